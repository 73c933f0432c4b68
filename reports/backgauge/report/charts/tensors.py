# SPDX-License-Identifier: Apache-2.0
"""Accuracy per tensor: the worst error / allowed error of each output."""

import math

import numpy as np

from ...case_line import OP_NAMES
from ...quantities import three_digits
from .. import look
from .chart import Chart, slug
from .scales import plain_numbers, plain_text

SECTION = "Accuracy per tensor"


def charts(material):
    found = {}
    for ratio in material.tensor_ratios:
        found.setdefault((ratio.op, ratio.dtype), []).append(ratio)
    return [_chart(material, *key, ratios) for key, ratios in found.items()]


def _chart(material, op, dtype, ratios):
    tensors = list(dict.fromkeys(ratio.tensor for ratio in ratios))
    names = [name for name in material.places if any(ratio.implementation == name for ratio in ratios)]
    title = f"{OP_NAMES.get(op, op)} {dtype}"
    height = 0.8 / len(names)

    def draw(theme, layout):
        made, grid = look.figure(layout, 1.0 + 0.3 * len(tensors) * max(1, 0.6 * len(names)))
        axes = grid[0][0]
        for k, name in enumerate(names):
            style = look.style(material.places[name], theme)
            mine = [ratio for ratio in ratios if ratio.implementation == name]
            y = np.array([tensors.index(ratio.tensor) for ratio in mine]) + (k - (len(names) - 1) / 2) * height
            axes.barh(y, [_drawn(ratio.ratio) for ratio in mine], height=0.86 * height, color=style.color, label=name,
                      hatch=style.hatch, edgecolor=theme.background, linewidth=0)
            for place, ratio in zip(y, mine):
                if ratio.ratio > 1:
                    axes.annotate(_number(ratio.ratio), (_drawn(ratio.ratio), place), xytext=(3, 0),
                                  textcoords="offset points", va="center", color=theme.ink)
        _scale(axes, ratios, theme)
        axes.set_yticks(range(len(tensors)), tensors)
        axes.set_ylim(len(tensors) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("worst error / allowed error of all cases")
        look.put_title(made, f"Accuracy per tensor: {title}", layout)
        look.legend_below(made, [axes], layout)
        return made

    text = "Bars end at the worst element of all judged cases; the line at 1 is the limit, and what is beyond it has its number."
    worst = max(ratios, key=lambda ratio: ratio.ratio)
    notes = (f"{title}: worst {worst.ratio:.3g}, {worst.tensor} of {worst.implementation}, {worst.workload}",)
    workloads = tuple(dict.fromkeys(ratio.workload for ratio in ratios))
    return Chart(SECTION, slug(f"tensors-{op}-{dtype}"), title, text, draw, workloads, notes)


_ENDLESS = 1e9  # where a bar of infinite ratio ends
_ROOM_FOR_NUMBERS = 0.25  # of the length of the longest bar, right of it


def _number(ratio):
    return three_digits(ratio) if ratio < 100 else plain_text(round(ratio)) if ratio < math.inf else "inf"


def _drawn(ratio):
    return min(ratio, _ENDLESS)


def _scale(axes, ratios, theme):
    """Linear if everything passes; logarithmic if something is far beyond its bound."""
    worst = max(_drawn(ratio.ratio) for ratio in ratios)
    if worst > 1.5:
        axes.set_xscale("log")
        plain_numbers(axes.xaxis)
        axes.set_xlim(1e-3, worst * (worst / 1e-3) ** _ROOM_FOR_NUMBERS)
    else:
        axes.set_xlim(0, 1.08 * max(worst, 1))
    axes.axvline(1, color=theme.ink, linewidth=1.2, linestyle=(0, (6, 2)))
