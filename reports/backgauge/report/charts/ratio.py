# SPDX-License-Identifier: Apache-2.0
"""How many times faster the subject is than each peer: 1 means equally fast, the bar ends at the best peer."""

from dataclasses import dataclass

import numpy as np

from ...quantities import three_digits
from .. import look
from .chart import Chart, families
from .shape_rows import number_column, row_labels, shape_figure

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

    def draw(theme):
        made, (left, axes), places = shape_figure(labels, columns=2, extra_rows=(MEAN,))
        _best(left, ratios, places, theme)
        for peer, of_peer in ratios.by_peer.items():
            style = look.style(material.places[peer], theme)
            points = [(ratio, places[workload]) for workload, ratio in of_peer.items()]
            points.append((geometric_mean(list(of_peer.values())), places[MEAN]))
            axes.plot(*zip(*points), linestyle="none", label=peer, **style.marks(theme))
        _scale(axes, [ratio for of_peer in ratios.by_peer.values() for ratio in of_peer.values()])
        for each, name in ((left, "best peer"), (axes, "every peer")):
            each.axvline(1, color=theme.ink, linewidth=1.2)
            each.axhline(places[MEAN] - 0.5, color=theme.muted, linewidth=0.8)
            each.set_xlabel(f"{name}'s time / {subject}'s time")
        left.set_title(f"{subject} against its peers: {family.title}")
        look.legend_below(made, [axes])
        return made

    text = (f"{family.setting.text}. Right of 1, {subject} is faster. Bars end at the fastest peer of each shape, hatched if "
            f"it is faster than {subject}. The last row is the geometric mean over the shapes that both have.")
    notes = [f"{family.title}: {three_digits(ratios.mean)} x the best peer (geometric mean of {len(ratios.best)}), "
             f"least {three_digits(min(ratios.best.values())[0])} against {min(ratios.best.values())[1]}"]
    notes += [f"{family.title}: {three_digits(geometric_mean(list(of_peer.values())))} x {peer} "
              f"(geometric mean of {len(of_peer)})" for peer, of_peer in ratios.by_peer.items()]
    return Chart(SECTION, family.file_name("ratio"), family.title, text, draw, tuple(labels), tuple(notes))


def _best(axes, ratios, places, theme):
    rows = [*((places[workload], ratio, peer) for workload, (ratio, peer) in ratios.best.items()),
            (places[MEAN], ratios.mean, "")]
    for y, ratio, peer in rows:
        axes.barh(y, ratio - 1, left=1, height=0.62, color=theme.grid, edgecolor=theme.muted, linewidth=0.8,
                  hatch="////" if ratio < 1 else "")
    number_column(axes, [(y, f"{ratio:.2f} {peer}") for y, ratio, peer in rows], theme)
    ends = [ratio for _, ratio, _ in rows]
    axes.set_xlim(min(0.98, 2 * min(ends) - 1), max(1.02, 1 + 1.05 * (max(ends) - 1)))


# Beyond a factor of 3 the axis is logarithmic.
_LINEAR_UP_TO = 3


def _scale(axes, values):
    low, high = min([*values, 1]), max([*values, 1])
    if high / low > _LINEAR_UP_TO:
        axes.set_xscale("log")
        axes.set_xlim(low / 1.15, high * 1.15)
        ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if low / 1.15 <= t <= high * 1.15]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    else:
        margin = 0.08 * (high - low) + 0.02
        axes.set_xlim(low - margin, high + margin)
