# SPDX-License-Identifier: Apache-2.0
"""Speed and error of the same call in the same row: one means little without the other."""

from .. import look
from .chart import Chart, families, finite
from .shape_rows import dots, limit_line, row_labels, shape_figure

SECTION = "Error and speed"


def charts(material):
    return [_chart(material, family) for family in families(material)
            if any(finite(row.error_over_bound) for row in family.rows)]


def _chart(material, family):
    labels = row_labels(family.rows)
    by_share = all(finite(row.share_of_limit) for row in family.rows)

    def speed(row):
        return 100 * row.share_of_limit if by_share else row.gflops

    def draw(theme):
        made, (left, right), places = shape_figure(labels, columns=2)
        for name, place in material.places.items():
            rows = [row for row in family.rows if row.implementation == name]
            style = look.style(place, theme)
            dots(left, [(speed(row), places[row.workload]) for row in rows if finite(speed(row))], style, theme, name)
            dots(right, [(row.error_over_bound, places[row.workload]) for row in rows if finite(row.error_over_bound)],
                 style, theme, name)
        left.set_xlim(left=0, right=max(103, left.get_xlim()[1]) if by_share else None)
        left.set_xlabel("% of the limit, more is better" if by_share else "GFLOP/s, more is better")
        right.set_xlim(0, max(1.05, right.get_xlim()[1]))
        right.set_xlabel("error / allowed error, 1 is the limit")
        limit_line(right, 1, "allowed", theme)
        left.set_title(family.title, pad=16)
        look.legend_below(made, [left, right])
        return made

    text = (f"{family.setting.text}. Left: speed; right: the largest error of any element of any output of the same "
            "implementation on the same inputs, divided by the allowed error.")
    return Chart(SECTION, family.file_name("speed-and-error"), family.title, text, draw, tuple(labels))
