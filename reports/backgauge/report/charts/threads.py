# SPDX-License-Identifier: Apache-2.0
"""Thread scaling: how many times faster than with the smallest number of threads in the runs."""

from dataclasses import dataclass

from ...quantities import three_digits
from ...table import groups
from .chart import Chart, Family, slug
from .ratio import geometric_mean
from .shape_rows import Dots, Scale, ShapeRows, limit_line, row_labels

SECTION = "Thread scaling"


@dataclass(frozen=True)
class Scaled:
    row: object
    speed_up: float
    fewest: int


def scaled_rows(rows):
    """Every row with more threads than another row of the same workload, implementation and machine."""
    def same(row):
        return (row.setting.machine_id, row.setting.cache_mode, row.workload, row.implementation)

    found = []
    for of_pair in groups(rows, same).values():
        first = min(of_pair, key=lambda row: row.setting.threads)
        found += [Scaled(row, first.seconds / row.seconds, first.setting.threads) for row in of_pair
                  if row.setting.threads > first.setting.threads]
    return found


def charts(material):
    scaled = scaled_rows(material.timed)
    found = groups(scaled, lambda s: (s.row.setting, s.fewest, s.row.suite, *s.row.case.family))
    return [_chart(material, key, of_key) for key, of_key in found.items()]


def _chart(material, key, scaled):
    setting, fewest, *family_key = key
    family = Family(setting, *family_key, [s.row for s in scaled])
    ideal = setting.threads / fewest
    labels = row_labels(family.rows)
    found = {name: {s.row.workload: s.speed_up for s in scaled if s.row.implementation == name} for name in material.places}
    speed_ups = {name: values for name, values in found.items() if values}
    ends = [s.speed_up for s in scaled]
    dots = Dots(speed_ups, Scale(min(0.9, *ends) - 0.05, 1.05 * max(ideal, *ends)))

    def draw(theme, layout):
        rows = ShapeRows(labels, [dots], layout)
        rows.draw_dots(material.places, theme)
        axes, = rows.panels
        axes.axvline(1, color=theme.muted, linewidth=1)
        limit_line(axes, ideal, f"ideal: {ideal:g}", theme)
        axes.set_xlabel(f"speed-up of {setting.threads} threads over {fewest}, more is better")
        return rows.finish(f"Thread scaling: {family.title}")

    notes = [f"{family.title}, {name}: {three_digits(geometric_mean(list(values.values())))} x the speed of {fewest} "
             f"(geometric mean of {len(values)}, least {three_digits(min(values.values()))})"
             for name, values in speed_ups.items()]
    return Chart(SECTION, slug(family.file_name("threads")), f"Thread scaling: {family.title}",
                 f"{setting.text}. Right of 1 is faster than on {fewest} thread{'s' if fewest > 1 else ''}; dashed: ideal.",
                 draw, tuple(labels), tuple(notes))
