# SPDX-License-Identifier: Apache-2.0
"""The distance from the limits that were measured at the start of the run.

Where work is counted in operations: operations per second over operations per byte, under the multiply-add limit and the
bandwidths. An op that only passes over memory has no operations (perf/workload/cost_model.h): its bytes per second over the bytes of
a call, under the copy bandwidth of the cache level that holds them.
"""

from ...table import groups
from .. import look
from .chart import Chart, Family, finite, limits_of, medians_text
from .scales import few_decades, plain_numbers

SECTION = "Roofline"
_MARGIN = 1.5  # a factor on every side of the points


def charts(material):
    """One of each op and dtype: the axes are fitted to their points."""
    rows = [row for row in material.timed if finite(row.gbps) and row.gbps > 0]
    made = []
    for (setting, op, dtype), of_op in groups(rows, lambda row: (row.setting, *row.case.family)).items():
        family = Family(setting, "", op, dtype, of_op)
        made += filter(None, [_over_bytes(material, family) if family.is_memory_bound else _over_intensity(material, family)])
    return made


def _over_intensity(material, family):
    rows = [row for row in family.rows if finite(row.gflops) and row.gflops > 0]
    limits = limits_of(material.table, family.setting, family.dtype)
    (limit, peak), kind = limits.products, limits.kind
    levels = limits.bandwidths[kind]
    if not rows or not finite(peak) or not levels:
        return None
    points = {id(row): (row.gflops / row.gbps, row.gflops) for row in rows}
    (left, right), (bottom, top) = (_around([place[axis] for place in points.values()]) for axis in (0, 1))
    top = max(top, 1.3 * peak)
    # Every bandwidth above the points at their left edge limits none of them.
    slanted = [(name, bandwidth) for name, bandwidth in levels if bandwidth * left < peak]

    def draw(theme, layout):
        made, axes = _frame(family, layout)
        for (name, bandwidth), line in zip(slanted, look.LINES):
            x = [left, min(right, peak / bandwidth)]
            axes.plot(x, [bandwidth * each for each in x], color=theme.muted, linestyle=line, linewidth=1.3,
                      label=f"{kind} {name} {bandwidth:.0f} GB/s")
        axes.axhline(peak, color=theme.ink, linewidth=1.5)
        axes.annotate(f"{limit} {peak:.0f} GFLOP/s", (1, peak), xycoords=("axes fraction", "data"), xytext=(-2, 4),
                      textcoords="offset points", ha="right", color=theme.ink)
        return _finish(made, axes, material, rows, points, theme, layout, ((left, right), (bottom, top)),
                       ("FLOP per byte (work convention of the run)", "GFLOP/s"))

    flat = "large products by cuBLASLt" if family.setting.device else "the FMA limit"
    bandwidths = (f"Slanted lines: {kind} bandwidths." if slanted else
                  f"All points lie right of the slanted lines of the bandwidths, so that only {flat} limit{'' if family.setting.device else 's'} them.")
    text = (f"{family.setting.text}. {medians_text(rows)} Flat line: {flat}. {bandwidths} Both were measured at the start of the "
            "run. Work that fits into a cache may lie above the line of memory.")
    return Chart(SECTION, family.file_name("roofline"), family.title, text, draw)


def _over_bytes(material, family):
    known = limits_of(material.table, family.setting, family.dtype)
    levels = known.bandwidths["copy"]
    if not levels:
        return None
    points = {id(row): (row.gbps * row.seconds * 1e3, row.gbps) for row in family.rows}
    limits = _around([place[0] for place in points.values()]), _around([place[1] for place in points.values()])
    (left, right), (bottom, top) = limits
    top = max(top, 1.3 * max(bandwidth for _, bandwidth in levels))
    steps = _steps(known.sizes, levels, left, right)

    def draw(theme, layout):
        made, axes = _frame(family, layout)
        for (name, bandwidth, begin, end), line in zip(steps, look.LINES):
            axes.plot([begin, end], [bandwidth, bandwidth], color=theme.ink, linestyle=line, linewidth=1.5,
                      label=f"copy {name} {bandwidth:.0f} GB/s")
        return _finish(made, axes, material, family.rows, points, theme, layout, ((left, right), (bottom, top)),
                       ("MB read and written by a call", "GB/s"))

    text = (f"{family.setting.text}. {medians_text(family.rows)} This op does not multiply matrices: the bandwidth of the cache level that "
            "holds its data limits it. Flat lines: the copy bandwidth of each level, measured at the start of the run, over the sizes that fit into it. "
            "A call that reads more than it writes may lie above its line.")
    return Chart(SECTION, family.file_name("roofline"), family.title, text, draw)


def _steps(sizes, levels, left, right):
    """[(level, GB/s, from MB, to MB)] within the axis; levels whose size is unknown are left out."""
    steps, begin = [], left
    for name, bandwidth in levels:
        end = right if name == "memory" else min(right, sizes[name] / 1e6)
        if finite(end) and end > begin:
            steps.append((name, bandwidth, begin, end))
            begin = end
    return steps


def _around(values):
    return min(values) / _MARGIN, max(values) * _MARGIN


def _frame(family, layout):
    made, grid = look.figure(layout, 0.75 * min(layout.width, 5.6))
    look.put_title(made, f"Roofline: {family.title}", layout)
    return made, grid[0][0]


def _finish(made, axes, material, rows, points, theme, layout, limits, labels):
    for name, place in material.places.items():
        mine = [points[id(row)] for row in rows if row.implementation == name]
        if mine:
            axes.plot(*zip(*mine), linestyle="none", label=name, **look.style(place, theme).marks(theme))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    plain_numbers(axes.xaxis, axes.yaxis)
    for axis in (axes.xaxis, axes.yaxis):
        few_decades(axis)
    look.legend_below(made, [axes], layout)
    return made

