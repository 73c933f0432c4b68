# SPDX-License-Identifier: Apache-2.0
"""Decides the verdict. It starts at UNCLEAR, and changes only if effect and significance agree."""

import math
from dataclasses import dataclass, replace

from .statistics import LEAST_ROUNDS, Estimate, alpha_of_look

UNCLEAR, SAME, FASTER, SLOWER = "UNCLEAR", "SAME", "FASTER", "SLOWER"


@dataclass(frozen=True)
class Rule:
    """`look`: which look at growing data this is, from 1; 0 if there is only one, which may spend all of alpha."""

    min_effect: float = 0.03  # 1.03 is slower, 1 / 1.03 faster
    alpha: float = 0.01
    mean_effect: float = 0.01  # of the geometric mean over all workloads
    look: int = 0

    @property
    def level(self):
        return alpha_of_look(self.alpha, self.look) if self.look else self.alpha


@dataclass(frozen=True)
class Row:
    """`estimates`: one for each unit in which a workload is compared; a verdict needs all of them to agree."""

    workload: str
    estimates: tuple[Estimate, ...] = ()
    seconds: tuple[float, float] | None = None  # medians of base and head
    adjusted: tuple[float, ...] = ()  # p-values with Holm's correction, one per estimate
    effect: float = 0.0  # the difference that is needed here, at least min_effect
    least_effect: float = 0.0  # what it would be without noise
    noise: float = float("nan")  # of base against itself in the same rounds
    seconds_spent: float = float("nan")  # what the blocks took that it is about
    effect_source: str = ""  # why it is more than min_effect; then SAME is impossible
    missing: str = ""  # why there is nothing to compare
    disturbed: str = ""  # why disturbed samples decide nothing here, if most are
    apart: str = ""  # what both sides differ in, so that a time says nothing about the code
    lost: bool = False  # base had a time, head failed the judge
    count: int = 0  # of the row of the geometric mean: how many workloads
    absent: str = ""  # "base" or "head": the side that does not have the workload at all; "both": skipped by both
    verdict: str = UNCLEAR
    reason: str = ""

    @property
    def ratio(self):
        return self.estimates[0].ratio if self.estimates else float("nan")


def decide(row: Row, rule: Rule) -> Row:
    if row.missing:
        return replace(row, reason=row.missing)
    if row.apart:
        return replace(row, reason=f"not the same machine or build: {row.apart}")
    if row.disturbed:
        return replace(row, reason=row.disturbed)
    up, down = 1 + row.effect, 1 / (1 + row.effect)
    percent = f"{100 * row.effect:.2g} %"
    worst_p = max(row.adjusted)
    significant = worst_p <= rule.level
    beyond_up = all(estimate.ratio >= up for estimate in row.estimates)
    beyond_down = all(estimate.ratio <= down for estimate in row.estimates)
    # More noise than the effect cannot show sameness within the effect.
    inside = not row.effect_source and all(down < estimate.low and estimate.high < up for estimate in row.estimates)
    p_text = f"p {worst_p:.1g}"
    if (beyond_up or beyond_down) and significant:
        word = SLOWER if beyond_up else FASTER
        return replace(row, verdict=word, reason=f"at least {percent} {word.lower()} and significant, {p_text}")
    if inside:
        return replace(row, verdict=SAME, reason=f"interval within {percent} either way")
    why = _why_unclear(row, percent, beyond_up or beyond_down, p_text)
    return replace(row, reason="; ".join(filter(None, [why, what_would_settle(row)])))


# Nobody waits longer for a verdict; a machine with less noise is the better way.
LONGEST_WAIT = 3600.0

# Closer to the threshold than this share of it, the number of rounds that would decide grows without bounds.
AT_THE_THRESHOLD = 0.1


def more_blocks(row):
    """How many times as many blocks would decide the row, by its present ratio and spread; inf if none would. The reach
    of the interval shrinks with the square root of their number. SAME needs the distance to the threshold, everything
    else the distance to 1."""
    estimate, threshold = row.estimates[0], math.log1p(row.least_effect or row.effect)
    size = abs(math.log(estimate.ratio))
    needed = threshold - size if size < threshold else size
    if not math.isfinite(estimate.reach) or abs(threshold - size) < AT_THE_THRESHOLD * threshold:
        return math.inf
    noise = math.log1p(row.noise) if math.isfinite(row.noise) else 0.0
    goal = max(size, threshold)  # the noise has to be below it
    return max(1.0, (estimate.reach / needed) ** 2, (noise / goal) ** 2)


def what_would_settle(row):
    estimate = row.estimates[0]
    if estimate.rounds < LEAST_ROUNDS or not math.isfinite(estimate.ratio):
        return ""
    factor = more_blocks(row)
    if math.isinf(factor):
        return "the ratio is at the threshold itself, and more time would not settle it"
    if not math.isfinite(row.seconds_spent):
        return f"about {math.ceil(factor * estimate.rounds)} rounds would settle it"
    seconds = (factor - 1) * row.seconds_spent
    if seconds > LONGEST_WAIT:
        return f"a quieter machine would settle it (here about {math.ceil(seconds / 3600)} more hours)"
    return f"about {_waiting(seconds)} more would settle it"


def _waiting(seconds):
    return f"{math.ceil(seconds / 60)} min" if seconds > 60 else f"{max(1, math.ceil(seconds))} s"


def _why_unclear(row, percent, beyond, p_text):
    rounds = row.estimates[0].rounds
    if rounds < LEAST_ROUNDS:
        return f"too few rounds: {rounds}, expected at least {LEAST_ROUNDS}"
    if beyond:
        return f"more than {percent}, but not significant in {rounds} rounds, {p_text}"
    if len(row.estimates) > 1 and any(abs_effect(e.ratio) >= row.effect for e in row.estimates):
        ratios = ", ".join(f"{estimate.ratio:.3f} {estimate.way}" for estimate in row.estimates)
        return f"the estimates disagree: {ratios}"
    if row.effect_source:
        return f"less than {percent}, the smallest difference that can be detected: {row.effect_source}"
    return f"less than {percent}, but the interval reaches beyond it"


def abs_effect(ratio):
    return max(ratio, 1 / ratio) - 1
