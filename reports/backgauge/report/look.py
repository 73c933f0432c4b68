# SPDX-License-Identifier: Apache-2.0
"""The look of charts: two themes, and a style per implementation that can be distinguished without colour.

Lightness (CIELAB L*) of any two colours of a theme differs by 8 or more, first and second by 19 or more; markers, line
styles and hatches differ as well, so that no information is in the hue alone. reports/tests/look_test.py checks both.
"""

from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure  # noqa: E402 - the backend is chosen first: there may be no display


@dataclass(frozen=True)
class Theme:
    name: str
    background: str
    ink: str
    muted: str  # axes, secondary text
    grid: str
    series: tuple[str, ...]

    def settings(self):
        return {
            "figure.facecolor": self.background, "axes.facecolor": self.background, "savefig.facecolor": self.background,
            "text.color": self.ink, "axes.labelcolor": self.ink, "axes.titlecolor": self.ink,
            "axes.edgecolor": self.muted, "xtick.color": self.muted, "ytick.color": self.muted,
            "xtick.labelcolor": self.ink, "ytick.labelcolor": self.ink, "grid.color": self.grid,
            "legend.labelcolor": self.ink, "legend.frameon": False, "axes.grid": True, "axes.axisbelow": True,
            "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10.5, "axes.titleweight": "bold",
            "axes.titlelocation": "left", "font.size": 9, "font.family": "DejaVu Sans", "grid.linewidth": 0.6,
            "lines.markersize": 7, "hatch.linewidth": 0.8,
            # Text as outlines: the page must look the same if the font is not installed.
            "svg.fonttype": "path", "svg.hashsalt": "backgauge",
        }


LIGHT = Theme("light", "#ffffff", "#1c2128", "#59636e", "#dfe4ea",
              ("#024c8b", "#fd8f2c", "#913bb7", "#0aa0a9", "#710018", "#028d23"))
DARK = Theme("dark", "#14181e", "#e8ecf1", "#9aa5b1", "#2d343d",
             ("#61a1ff", "#ffcdab", "#bb63e1", "#c4fbff", "#db2541", "#5ad45d"))
THEMES = (LIGHT, DARK)

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<")
LINES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 3)))
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---")


@dataclass(frozen=True)
class Style:
    color: str
    marker: str
    line: object
    hatch: str
    order: float  # the first is drawn last, over the others

    def marks(self, theme):
        """Arguments of plot() for markers: an outline in ink keeps pale colours visible."""
        return {"color": self.color, "marker": self.marker, "markeredgecolor": theme.ink, "markeredgewidth": 0.6,
                "zorder": self.order}


def style(place, theme):
    """On input the implementation's place in the report, from 0: the same in every chart."""
    return Style(theme.series[place % len(theme.series)], MARKERS[place % len(MARKERS)], LINES[place % len(LINES)],
                 HATCHES[place % len(HATCHES)], 3 - place / 100)


def figure(width, height, rows=1, columns=1, **options):
    """(figure, array of axes); called and drawn on inside themed()."""
    made = Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False, **options)


def themed(theme):
    return matplotlib.rc_context(theme.settings())


def legend_below(made, axes, columns=6):
    """One legend for the figure, under it: it never covers a point. Saving must be with bbox_inches="tight"."""
    unique = {}
    for each in axes:
        unique.update(zip(*reversed(each.get_legend_handles_labels())))
    if unique:
        made.legend(unique.values(), unique.keys(), loc="upper center", bbox_to_anchor=(0.5, 0),
                    ncols=min(columns, len(unique)))
