# SPDX-License-Identifier: Apache-2.0
"""The speed of the subject divided by that of each peer: 1 means equally fast; the bar ends at the best peer."""

import math
from dataclasses import dataclass

import numpy as np

from ...quantities import ratio_text
from ...table import groups
from .. import look
from .chart import Chart, families
from .shape_rows import Dots, Scale, ShapeRows, number_column, row_labels

SECTION = "Ratio to the best peer"
MEAN = "geometric mean"


@dataclass(frozen=True)
class Ratios:
    """peer's time / subject's time, per workload."""

    by_peer: dict  # peer -> {workload: ratio}
    best: dict  # workload -> (ratio to the fastest peer, its name)

    @property
    def mean(self):
        return geometric_mean([ratio for ratio, _ in self.best.values()])


def geometric_mean(values):
    return float(np.exp(np.mean(np.log(values)))) if len(values) else float("nan")


def ratios_of(rows, subject):
    ours = {row.workload: row.seconds for row in rows if row.implementation == subject}
    by_peer, best = {}, {}
    for row in rows:
        if row.implementation == subject or row.workload not in ours:
            continue
        ratio = row.seconds / ours[row.workload]
        by_peer.setdefault(row.implementation, {})[row.workload] = ratio
        if row.workload not in best or ratio < best[row.workload][0]:
            best[row.workload] = (ratio, row.implementation)
    return Ratios(by_peer, best)


def charts(material):
    made = []
    for family in families(material):
        ratios = ratios_of(family.rows, material.subject)
        if ratios.best:
            made.append(_chart(material, family, ratios))
    return made


def _chart(material, family, ratios):
    labels = row_labels([row for row in family.rows if row.workload in ratios.best])
    subject = material.subject
    peers = {peer: {**of_peer, MEAN: geometric_mean(list(of_peer.values()))} for peer, of_peer in ratios.by_peer.items()}
    dots = Dots(peers, _scale([ratio for of_peer in ratios.by_peer.values() for ratio in of_peer.values()]))
    of_shape = {workload: max(row.uncertainty for row in rows) for workload, rows in groups(family.rows, lambda row: row.workload).items()}
    numbers = {workload: f"{ratio_text(ratio, of_shape[workload])} {peer}" for workload, (ratio, peer) in ratios.best.items()}
    numbers[MEAN] = ratio_text(ratios.mean, material.noise(family.setting))

    def draw(theme, layout):
        rows = ShapeRows(labels, [None, dots], layout, extra_rows=(MEAN,), numbers_width=max(map(look.text_width, numbers.values())))
        best, every = rows.panels
        rows.draw_dots(material.places, theme)
        _best(best, ratios, numbers, rows.places, theme)
        if dots.scale.logarithmic:
            _plain_ticks(every, dots.scale, layout)
        for each, name in ((best, "best peer"), (every, "every peer")):
            each.axvline(1, color=theme.ink, linewidth=1.2)
            each.axhline(rows.places[MEAN] - 0.5, color=theme.muted, linewidth=0.8)
            each.set_xlabel(f"{name}'s time / {subject}'s time")
        return rows.finish(f"{subject} against its peers: {family.title}")

    text = (f"{family.setting.text}. Right of 1, {subject} is faster. Bars end at the fastest peer of each shape, hatched if "
            f"it is faster than {subject}. The last row is the geometric mean over the shapes that both have.")
    noise = material.noise(family.setting)
    least, nearest = min(ratios.best.values())
    notes = [f"{family.title}: {ratio_text(ratios.mean, noise)} x the best peer (geometric mean of {len(ratios.best)}), "
             f"least {ratio_text(least, noise)} against {nearest}"]
    notes += [f"{family.title}: {ratio_text(geometric_mean(list(of_peer.values())), noise)} x {peer} "
              f"(geometric mean of {len(of_peer)})" for peer, of_peer in ratios.by_peer.items()]
    return Chart(SECTION, family.file_name("ratio"), family.title, text, draw, tuple(labels), tuple(notes))


def _best(axes, ratios, numbers, places, theme):
    rows = {**{workload: ratio for workload, (ratio, _) in ratios.best.items()}, MEAN: ratios.mean}
    for key, ratio in rows.items():
        axes.barh(places[key], ratio - 1, left=1, height=0.62, color=theme.grid, edgecolor=theme.muted, linewidth=0.8,
                  hatch="////" if ratio < 1 else "")
    number_column(axes, [(places[key], numbers[key]) for key in rows], theme)
    axes.set_xlim(min(0.98, 2 * min(rows.values()) - 1), max(1.02, 1 + 1.05 * (max(rows.values()) - 1)))


# Beyond a factor of 3 the axis is logarithmic.
_LINEAR_UP_TO = 3


def _scale(values):
    low, high = min([*values, 1]), max([*values, 1])
    if high / low > _LINEAR_UP_TO:
        return Scale(low / 1.15, high * 1.15, logarithmic=True)
    margin = 0.08 * (high - low) + 0.02
    return Scale(low - margin, high + margin)


def _plain_ticks(axes, scale, layout):
    """1, 2, 5, 10 as far as there is room for them, else 1, 10, 100."""
    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if scale.low <= t <= scale.high]
    if len(ticks) > layout.width / 0.6:
        ticks = [t for t in ticks if math.log10(t).is_integer()]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
