# SPDX-License-Identifier: Apache-2.0
"""Roofline: operations per second over operations per byte, with the limits measured at the start of the run."""

import numpy as np

from ...case_line import OP_NAMES
from ...table import groups
from .. import look
from .chart import Chart, finite, slug
from .scales import plain_numbers

SECTION = "Roofline"
_LEVELS = (("L1", "l1"), ("L2", "l2"), ("L3", "l3"), ("memory", "memory"))


def charts(material):
    rows = [row for row in material.timed if finite(row.gflops) and finite(row.gbps) and row.gbps > 0]
    found = groups(rows, lambda row: (row.setting, row.case.dtype == "f64"))
    made = []
    for (setting, double), of_setting in found.items():
        limits = _limits(material.table, setting, double)
        if limits:
            made.append(_chart(material, setting, double, of_setting, limits))
    return made


def _limits(table, setting, double):
    """(peak GFLOP/s, [(level, GB/s)]), None if the run has no peak."""
    peak = table.number(setting, "fma_gflops_f64" if double else "fma_gflops_f32")
    levels = [(name, table.number(setting, f"read_gbps_{key}")) for name, key in _LEVELS]
    levels = [(name, value) for name, value in levels if finite(value)]
    return (peak, levels) if finite(peak) and levels else None


def _chart(material, setting, double, rows, limits):
    peak, levels = limits
    kind = "double" if double else "float32 and half"
    intensity = {id(row): row.gflops / row.gbps for row in rows}
    ops = list(dict.fromkeys(row.case.op for row in rows))

    def draw(theme):
        made, grid = look.figure(8.6, 5.2)
        axes = grid[0][0]
        low = min([*intensity.values(), peak / max(value for _, value in levels)]) / 2
        high = max([*intensity.values(), peak / min(value for _, value in levels)]) * 2
        for (name, bandwidth), line in zip(levels, look.LINES):
            x = np.array([low, peak / bandwidth])
            axes.plot(x, bandwidth * x, color=theme.muted, linestyle=line, linewidth=1.3,
                      label=f"{name} {bandwidth:.0f} GB/s")
        axes.hlines(peak, peak / max(value for _, value in levels), high, color=theme.ink, linewidth=1.5)
        axes.annotate(f"FMA limit {peak:.0f} GFLOP/s", (high, peak), xytext=(-2, 4), textcoords="offset points",
                      ha="right", fontsize=8, color=theme.ink)
        for name, place in material.places.items():
            for row in rows:
                if row.implementation == name:
                    size = 4.5 + 2.5 * ops.index(row.case.op)
                    marks = look.style(place, theme).marks(theme)
                    axes.plot(intensity[id(row)], row.gflops, linestyle="none", markersize=size, alpha=0.9,
                              label=name, **marks)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(min(row.gflops for row in rows) / 2, peak * 2)
        axes.set_xlabel("FLOP per byte (work convention of the run)")
        axes.set_ylabel("GFLOP/s")
        axes.set_title(f"Roofline, {kind}")
        plain_numbers(axes)
        look.legend_below(made, [axes])
        return made

    sizes = "; larger markers: " + ", ".join(OP_NAMES.get(op, op) for op in ops[1:]) if len(ops) > 1 else ""
    text = (f"{setting.text}. Slanted lines: read bandwidth of each level; flat line: the FMA limit; both measured at the start "
            f"of the run{sizes}. Work that fits into a cache may lie above the line of memory.")
    name = slug(f"roofline-{'f64' if double else 'f32'}-{setting.threads}t-{setting.cache_mode}-{setting.machine_id[:6]}")
    return Chart(SECTION, name, f"{setting.text}, {kind}", text, draw)
