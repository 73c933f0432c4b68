# SPDX-License-Identifier: Apache-2.0
"""Throughput over shapes, one marker per implementation, against the measured limit."""

from ...quantities import three_digits
from .chart import Chart, families, finite, limits_of, medians_text, of_each
from .shape_rows import Dots, Scale, ShapeRows, limit_line, row_labels

SECTION = "Throughput over shapes"


def charts(material):
    return [_chart(material, family) for family in families(material)]


def _chart(material, family):
    bandwidth = family.is_memory_bound
    unit = "GB/s" if bandwidth else "GFLOP/s"
    value = (lambda row: row.gbps) if bandwidth else (lambda row: row.gflops)
    labels = row_labels(family.rows)
    fastest = max([value(row) for row in family.rows if finite(value(row))], default=1)
    # Limits far beyond every dot would squeeze the dots into a corner.
    shown = [(text, x) for text, x in _limits(material.table, family, bandwidth) if x <= 3 * fastest]
    dots = Dots(of_each(material, family.rows, value), Scale(0, 1.05 * max([fastest, *(x for _, x in shown)])))

    def draw(theme, layout):
        rows = ShapeRows(labels, [dots], layout)
        rows.draw_dots(material.places, theme)
        axes, = rows.panels
        for place, (text, x) in enumerate(shown):
            limit_line(axes, x, text, theme, place)
        axes.set_xlabel(f"{unit}, more is better")
        return rows.finish(family.title)

    text = f"{family.setting.text}. {medians_text(family.rows)} Broken lines: the limits measured at the start of the run."
    return Chart(SECTION, family.file_name("throughput"), family.title, text, draw, tuple(labels))


def _limits(table, family, bandwidth):
    """[(name, value)] of the limits of the family; empty if the run has no such number."""
    limits = limits_of(table, family.setting, family.dtype)
    found = [(f"copy bandwidth {level}", value) for level, value in limits.bandwidths["copy"]] if bandwidth else [limits.products]
    return [(f"{name} {three_digits(value)}", value) for name, value in found if finite(value)]
