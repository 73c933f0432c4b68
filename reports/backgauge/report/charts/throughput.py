# SPDX-License-Identifier: Apache-2.0
"""Throughput over shapes, one marker per implementation, against the measured limit."""

from .. import look
from .chart import Chart, families, finite
from .shape_rows import dots, limit_line, row_labels, shape_figure

SECTION = "Throughput over shapes"


def charts(material):
    return [_chart(material, family) for family in families(material)]


def _chart(material, family):
    bandwidth = family.op == "lstm_block_cell_grad"  # a pass over memory: few operations per byte
    unit = "GB/s" if bandwidth else "GFLOP/s"
    value = (lambda row: row.gbps) if bandwidth else (lambda row: row.gflops)
    labels = row_labels(family.rows)
    fastest = max([value(row) for row in family.rows if finite(value(row))], default=1)
    # Limits far beyond every dot would squeeze the dots into a corner.
    shown = [(text, x) for text, x in _limits(material.table, family, bandwidth) if x <= 3 * fastest]

    def draw(theme):
        made, (axes,), places = shape_figure(labels)
        for name, place in material.places.items():
            points = [(value(row), places[row.workload]) for row in family.rows
                      if row.implementation == name and finite(value(row))]
            dots(axes, points, look.style(place, theme), theme, name)
        axes.set_xlim(0, 1.05 * max([fastest, *(x for _, x in shown)]))
        for text, x in shown:
            limit_line(axes, x, text, theme)
        axes.set_xlabel(f"{unit}, more is better")
        axes.set_title(family.title, pad=16)
        look.legend_below(made, [axes])
        return made

    text = f"{family.setting.text}. Medians of the undisturbed rounds. Dashed: the limit measured at the start of the run."
    return Chart(SECTION, family.file_name("throughput"), family.title, text, draw, tuple(labels))


def _limits(table, family, bandwidth):
    """[(name, value)] of the limits of the family; empty if the run has no such number."""
    number = lambda key: table.number(family.setting, key)  # noqa: E731
    if bandwidth:
        found = [(f"copy {level}", number(f"copy_gbps_{key}"))
                 for level, key in (("L1", "l1"), ("L2", "l2"), ("L3", "l3"), ("memory", "memory"))]
    else:
        found = [("FMA limit", number("fma_gflops_f64" if family.dtype == "f64" else "fma_gflops_f32"))]
    return [(name, value) for name, value in found if finite(value)]
