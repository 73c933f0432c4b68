# SPDX-License-Identifier: Apache-2.0
"""Dot plots whose rows are shapes: one row per workload, one marker per implementation."""

from ...table import cases_of
from .. import look

# Inches: one line of 8-point text; title, axis and margins.
_ROW, _FRAME = 0.25, 1.45
WIDTH = 8.6


def row_labels(rows):
    """{workload: label}, top to bottom; settings that all rows share are left out."""
    cases = cases_of(rows)
    shared = len({case.shown_settings for case in cases.values()}) == 1
    return {workload: case.dims if shared else case.label for workload, case in cases.items()}


def shape_figure(labels, columns=1, extra_rows=()):
    """(figure, axes of each column, {workload or extra row: y})."""
    count = len(labels) + len(extra_rows)
    made, axes = look.figure(WIDTH, _FRAME + _ROW * count, 1, columns, sharey=True)
    places = {key: y for y, key in enumerate([*labels, *extra_rows])}
    first = axes[0][0]
    first.set_yticks(range(count), [*labels.values(), *extra_rows])
    first.set_ylim(count - 0.4, -0.6)
    for each in axes[0]:
        each.tick_params(axis="y", length=0)
    return made, list(axes[0]), places


def dots(axes, points, style, theme, label):
    """On input (x, y) points of one implementation."""
    if points:
        x, y = zip(*points)
        axes.plot(x, y, linestyle="none", label=label, **style.marks(theme))


def number_column(axes, texts, theme):
    """Texts at the right edge, one per row: (y, text)."""
    for y, text in texts:
        axes.annotate(text, (1, y), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
                      va="center", fontsize=8.5, color=theme.ink)


def limit_line(axes, x, text, theme):
    """A limit across all rows, named at the top, above all rows."""
    axes.axvline(x, color=theme.ink, linewidth=1.2, linestyle=(0, (6, 2)))
    axes.annotate(text, (x, 1), xycoords=("data", "axes fraction"), xytext=(-3, 1), textcoords="offset points",
                  ha="right", va="bottom", fontsize=8, color=theme.muted)
