# SPDX-License-Identifier: Apache-2.0
"""Time against T, B and H, everything else equal. Against T with a fitted line, since cost must grow linearly."""

from dataclasses import dataclass

from ...case_line import OP_NAMES
from ...table import Row, groups
from .. import look
from ..fit import linear_fit, power_fit
from .chart import Chart, medians_text, slug
from .scales import few_decades, plain_numbers

SECTION = "How cost grows"
_LEAST_SIZES = 3  # any two points lie on a line
_MOST_PANELS = 6  # more would be too small to read
_WORDS = {"T": "steps", "B": "batch", "H": "hidden size"}


@dataclass(frozen=True)
class Sweep:
    """Rows that differ in one size only, of every implementation."""

    title: str
    rows: list[Row]

    def points(self, implementation, dim):
        """(sizes, seconds) in ascending order."""
        found = {getattr(row.case, dim): row.seconds for row in self.rows if row.implementation == implementation}
        return [list(side) for side in zip(*sorted(found.items()))] if found else ([], [])


def charts(material):
    made = []
    for dim in ("T", "B", "H"):
        by_setting = groups(material.timed, lambda row: (row.setting, *row.case.family))
        for (setting, op, dtype), rows in by_setting.items():
            sweeps = sweeps_of(rows, dim)
            if sweeps:
                made.append(_chart(material, setting, f"{OP_NAMES.get(op, op)} {dtype}", dim, sweeps))
    return made


def sweeps_of(rows, dim):
    """Longest first. If I = H, both grow together."""
    rows = [row for row in rows if row.case.has_steps or dim != "T"]

    def rest(row):
        tied = dim == "H" and row.case.I == row.case.H
        varied = ("H", "I") if tied else (dim,)
        return (tied, *row.case.shape_without(*varied))

    found = []
    for key, of_rest in groups(rows, rest).items():
        if len({getattr(row.case, dim) for row in of_rest}) >= _LEAST_SIZES:
            found.append(Sweep(_title(of_rest[0].case, dim, key[0]), of_rest))
    return sorted(found, key=lambda sweep: -len(sweep.rows))


def spread(items, most):
    """At most `most` of the items, evenly spaced, including the first and the last."""
    if len(items) <= most:
        return items
    return [items[k * (len(items) - 1) // (most - 1)] for k in range(most)]


def _title(case, dim, tied):
    dims = [f"{name}{getattr(case, name)}" for name in "TBIH"
            if name != dim and not (tied and name == "I") and (name != "T" or case.has_steps)]
    return " ".join([*dims, *(["I=H"] if tied else []), case.shown_settings]).strip()


def _chart(material, setting, family, dim, sweeps):
    shown = spread(sweeps, _MOST_PANELS)
    title = f"Time against {dim}: {family}"

    def draw(theme, layout):
        columns = min(layout.columns, len(shown))
        lines = -(-len(shown) // columns)
        made, grid = look.figure(layout, 0.6 + 2.6 * lines, lines, columns)
        panels = list(grid.flat)
        for axes, sweep in zip(panels, shown):
            _panel(axes, sweep, dim, material.places, theme)
        for axes in panels[len(shown):]:
            axes.set_visible(False)
        look.put_title(made, title, layout)
        look.legend_below(made, panels[:len(shown)], layout)
        return made

    notes = [note for sweep in sweeps for note in _notes(material, sweep, dim, family)]
    hidden = f" {len(sweeps) - len(shown)} more sweeps are not drawn." if len(sweeps) > len(shown) else ""
    lines_text = " Thin lines: fits linear in T." if dim == "T" else ""
    medians = medians_text([row for sweep in sweeps for row in sweep.rows])
    text = f"{setting.text}. {medians} Time against the {_WORDS[dim]}, both axes logarithmic.{lines_text}{hidden}"
    name = slug(f"growth-{dim}-{family}-{'device' if setting.device else f'{setting.threads}t'}-{setting.cache_mode}-{setting.machine_id[:6]}")
    return Chart(SECTION, name, f"{dim}: {family}", text, draw, notes=tuple(notes))


def _panel(axes, sweep, dim, places, theme):
    sizes_seen = set()
    for name, place in places.items():
        sizes, seconds = sweep.points(name, dim)
        if not sizes:
            continue
        sizes_seen.update(sizes)
        style = look.style(place, theme)
        fitted = dim == "T" and len(sizes) >= _LEAST_SIZES
        milliseconds = [1e3 * value for value in seconds]
        axes.plot(sizes, milliseconds, linestyle="none" if fitted else style.line, label=name, **style.marks(theme))
        if fitted:
            line = 1e3 * linear_fit(sizes, seconds).at(sizes)
            axes.plot(sizes, line, color=style.color, linestyle=style.line, linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted(sizes_seen)
    plain_numbers(axes.xaxis, axes.yaxis)
    few_decades(axes.yaxis)
    axes.set_xticks(ticks, [str(tick) for tick in ticks], rotation=45 if len(ticks) > 4 else 0, rotation_mode="anchor",
                    ha="right" if len(ticks) > 4 else "center")
    axes.set_xlabel(dim)
    axes.set_ylabel("ms")
    axes.set_title(sweep.title, fontsize=look.TEXT)


def _notes(material, sweep, dim, family):
    for name in material.places:
        sizes, seconds = sweep.points(name, dim)
        if len(sizes) < _LEAST_SIZES:
            continue
        if dim == "T":
            yield f"{family} {sweep.title}, {name}: {linear_fit(sizes, seconds).text}"
        else:
            yield f"{family} {sweep.title}, {name}: ~ {dim}^{power_fit(sizes, seconds):.2f}"
