# SPDX-License-Identifier: Apache-2.0
"""Speed and error of the same call in the same row: one means little without the other."""

from .chart import Chart, families, finite, of_each
from .shape_rows import Dots, Scale, ShapeRows, limit_line, row_labels

SECTION = "Error and speed"


def charts(material):
    return [_chart(material, family) for family in families(material)
            if any(finite(row.error_over_bound) for row in family.rows)]


def _chart(material, family):
    labels = row_labels(family.rows)
    by_share = all(finite(row.share_of_limit) for row in family.rows)

    def speed(row):
        if by_share:
            return 100 * row.share_of_limit
        return row.gbps if family.is_memory_bound else row.gflops

    speeds = of_each(material, family.rows, speed)
    errors = of_each(material, family.rows, lambda row: row.error_over_bound)
    panels = [Dots(speeds, Scale(0, 1.04 * max(100 if by_share else 1e-9, _most(speeds)))),
              Dots(errors, Scale(0, max(1.05, 1.04 * _most(errors))))]
    unit = "% of the limit" if by_share else "GB/s" if family.is_memory_bound else "GFLOP/s"

    def draw(theme, layout):
        rows = ShapeRows(labels, panels, layout)
        rows.draw_dots(material.places, theme)
        speed_axes, error_axes = rows.panels
        speed_axes.set_xlabel(f"{unit}, more is better")
        error_axes.set_xlabel("error / allowed error, 1 is the limit")
        limit_line(error_axes, 1, "allowed error", theme)
        return rows.finish(family.title)

    text = (f"{family.setting.text}. Speed, and the largest error of any element of any output of the same "
            "implementation on the same inputs, divided by the allowed error.")
    return Chart(SECTION, family.file_name("speed-and-error"), family.title, text, draw, tuple(labels))


def _most(points):
    return max((x for of_name in points.values() for x in of_name.values()), default=1)
