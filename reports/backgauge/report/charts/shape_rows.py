# SPDX-License-Identifier: Apache-2.0
"""Dot plots whose rows are shapes: one row per workload, one marker per implementation.

Markers that would cover each other are drawn above each other in their row, in lanes.
"""

import math
from dataclasses import dataclass

from ...table import cases_of
from .. import look

_POINT = 1 / 72  # inches
_LANE = (look.MARKER + 0.6) * _POINT  # a marker and half of its outline on either side
_ROW, _FRAME = 0.25, 1.45  # inches: one line of text; title, axis and margins


def row_labels(rows):
    """{workload: label}, top to bottom; settings that all rows share are left out."""
    cases = cases_of(rows)
    shared = len({case.shown_settings for case in cases.values()}) == 1
    return {workload: case.dims if shared else case.label for workload, case in cases.items()}


@dataclass(frozen=True)
class Scale:
    """The x axis of a panel."""

    low: float
    high: float
    logarithmic: bool = False

    def share(self, x):
        """Where on the axis, from 0 to 1."""
        low, high, x = (math.log(value) if self.logarithmic else value for value in (self.low, self.high, x))
        return (x - low) / (high - low)

    def apply(self, axes):
        if self.logarithmic:
            axes.set_xscale("log")
        axes.set_xlim(self.low, self.high)


@dataclass(frozen=True)
class Dots:
    """One panel: {implementation: {row: x}}, in the order in which they are drawn."""

    points: dict
    scale: Scale


def lanes(places, apart):
    """The lane of each of the `places` in one row, so that those of one lane are `apart` or more. 0 is the middle, then
    come 1 below, -1 above, 2 ..."""
    ends, found = [], [0] * len(places)
    for place, index in sorted((place, index) for index, place in enumerate(places)):
        lane = next((k for k, end in enumerate(ends) if place - end >= apart), len(ends))
        ends[lane:lane + 1] = [place]
        found[index] = (lane + 1) // 2 * (1 if lane % 2 else -1)
    return found


class ShapeRows:
    """A figure with rows of shapes and `panels` side by side, or one below the other where the layout is narrow."""

    def __init__(self, labels, panels, layout, extra_rows=(), numbers_width=0.0):
        """On input {workload: label}, [Dots or None], the widest text right of the axes in inches."""
        keys = [*labels, *extra_rows]
        side_by_side = min(len(panels), max(1, layout.columns - 1))
        names = [*labels.values(), *extra_rows]
        axis = layout.width / side_by_side - max(map(look.text_width, names)) / side_by_side - numbers_width - 0.3
        self._lanes = [_lanes_of(panel, _LANE / max(axis, 1)) for panel in panels]
        deepest = max((abs(lane) for of_panel in self._lanes for lane in of_panel.values()), default=0)
        row = max(_ROW, (2 * deepest + 1) * _LANE + 0.06)
        self._step = _LANE / row
        below = len(panels) // side_by_side
        self.figure, self.panels = look.panels(layout, _FRAME + row * len(keys), below, side_by_side)
        self.places, self._dots, self._layout = {key: y for y, key in enumerate(keys)}, panels, layout
        for k, axes in enumerate(self.panels):
            axes.set_ylim(len(keys) - 0.4, -0.6)
            axes.set_yticks(range(len(keys)), names if k % side_by_side == 0 else [""] * len(keys))
            axes.tick_params(axis="y", length=0)

    def draw_dots(self, places, theme):
        """On input Material.places."""
        for axes, panel, of_panel in zip(self.panels, self._dots, self._lanes):
            if panel is None:
                continue
            panel.scale.apply(axes)
            for y in range(1, len(self.places), 2):  # stripes keep the lanes of a row together
                axes.axhspan(y - 0.5, y + 0.5, color=theme.grid, alpha=0.35, linewidth=0, zorder=0)
            for name, points in panel.points.items():
                if points:
                    x, y = zip(*((value, self.places[row] + self._step * of_panel[name, row]) for row, value in points.items()))
                    axes.plot(x, y, linestyle="none", label=name, clip_on=False, **look.style(places[name], theme).marks(theme))

    def finish(self, title):
        look.put_title(self.figure, title, self._layout)
        look.legend_below(self.figure, self.panels, self._layout)
        return self.figure


def _lanes_of(panel, apart):
    """{(implementation, row): lane}."""
    found = {}
    if panel is None:
        return found
    for row in dict.fromkeys(row for points in panel.points.values() for row in points):
        names = [name for name, points in panel.points.items() if row in points]
        found |= zip([(name, row) for name in names], lanes([panel.scale.share(panel.points[name][row]) for name in names], apart))
    return found


def number_column(axes, texts, theme):
    """Texts at the right edge, one per row: (y, text)."""
    for y, text in texts:
        axes.annotate(text, (1, y), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
                      va="center", color=theme.ink)


def limit_line(axes, x, text, theme, place=0):
    """A limit across all rows, named in the legend; `place` distinguishes several of them."""
    axes.axvline(x, color=theme.ink, linewidth=1.2, linestyle=_LIMITS[place % len(_LIMITS)], label=text)


_LIMITS = ((0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (3, 1)))
