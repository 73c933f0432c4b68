# SPDX-License-Identifier: Apache-2.0
"""The look of charts: two themes, and a style per implementation that can be distinguished without colour.

Lightness (CIELAB L*) of any two colours of a theme differs by 8 or more, first and second by 19 or more; markers, line
styles and hatches differ as well, so that no information is in the hue alone. reports/tests/look_test.py checks both.

Every chart is drawn for two widths, so that its text has the same size on a desk and on a phone. One CSS pixel is 0.75 points.
"""

import textwrap
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure

from .themes import DARK, LIGHT, THEMES, Theme  # noqa: F401 - colours have a module that needs no matplotlib


def settings(theme):
    return {
        "figure.facecolor": theme.background, "axes.facecolor": theme.background, "savefig.facecolor": theme.background,
        "text.color": theme.ink, "axes.labelcolor": theme.ink, "axes.titlecolor": theme.ink,
        "axes.edgecolor": theme.muted, "xtick.color": theme.muted, "ytick.color": theme.muted,
        "xtick.labelcolor": theme.ink, "ytick.labelcolor": theme.ink, "grid.color": theme.grid,
        "legend.labelcolor": theme.ink, "legend.frameon": False, "axes.grid": True, "axes.axisbelow": True,
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10.5, "axes.titleweight": "bold",
        "axes.titlelocation": "left", "xaxis.labellocation": "right", "font.size": TEXT, "font.family": FONT, "legend.fontsize": TEXT,
        "xtick.labelsize": TEXT, "ytick.labelsize": TEXT, "figure.titlesize": 10.5, "figure.titleweight": "bold",
        "grid.linewidth": 0.6, "lines.markersize": MARKER, "hatch.linewidth": 0.8,
        # Text as text: it can be found, copied and read aloud. Fonts that replace this one are no wider (pictures.py).
        "svg.fonttype": "none", "svg.hashsalt": "backgauge",
    }


FONT = "DejaVu Sans"
TEXT = 9  # points: 12 pixels. Nothing is smaller than 11 pixels, which page_test.py measures in a browser
MARKER = 7  # points
_LETTER = 0.082  # inches: the mean width of a letter of FONT at TEXT is 0.58 em in the texts of charts; with a margin


@dataclass(frozen=True)
class Layout:
    name: str
    width: float  # inches
    columns: int  # at most so many panels side by side

    def letters(self, size=TEXT):
        """How many letters of `size` points fit into a line."""
        return int(self.width / (_LETTER * size / TEXT))


WIDE = Layout("wide", 8.6, 3)  # 826 pixels: a page or the README on a desk
NARROW = Layout("narrow", 3.72, 1)  # 357 pixels: what a phone of 390 pixels leaves between margins of 16
LAYOUTS = (WIDE, NARROW)


def text_width(text):
    """Inches that `text` takes at most."""
    return _LETTER * len(text)


def put_title(made, text, layout):
    """Over the whole figure, in as many lines as its width needs; titles are bold and larger than other text."""
    made.suptitle("\n".join(textwrap.wrap(text, layout.letters(12.5))), x=0.01, ha="left")


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


def figure(layout, height, rows=1, columns=1, **options):
    """(figure, array of axes); called and drawn on inside themed()."""
    made = Figure(figsize=(layout.width, height), layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False, **options)


def panels(layout, height, rows, columns):
    """(figure, [axes]): each row of panels is laid out by itself, `height` inches high."""
    made = Figure(figsize=(layout.width, rows * height), layout="constrained")
    parts = made.subfigures(rows, 1, squeeze=False)[:, 0] if rows > 1 else [made]
    return made, [axes for part in parts for axes in part.subplots(1, columns, squeeze=False)[0]]


def themed(theme):
    return matplotlib.rc_context(settings(theme))


def legend_below(made, axes, layout):
    """One legend for the figure, under it: it never covers a point. The figure grows by its height."""
    unique = {}
    for each in axes:
        unique.update(zip(*reversed(each.get_legend_handles_labels())))
    if not unique:
        return
    widest = max(map(text_width, unique)) + 0.5  # the marker and the gaps
    columns = max(1, min(len(unique), int(layout.width / widest)))
    own = 0.19 * -(-len(unique) // columns) + 0.12
    height = made.get_figheight() + own
    made.set_figheight(height)
    made.get_layout_engine().set(rect=(0, own / height, 1, 1 - own / height))
    made.legend(unique.values(), unique.keys(), loc="lower center", bbox_to_anchor=(0.5, 0), ncols=columns)
