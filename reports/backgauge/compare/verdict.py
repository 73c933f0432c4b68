# SPDX-License-Identifier: Apache-2.0
"""Decides the verdict. It starts at UNCLEAR, and changes only if effect and significance agree."""

from dataclasses import dataclass, replace

from .statistics import LEAST_ROUNDS, Estimate

UNCLEAR, SAME, FASTER, SLOWER = "UNCLEAR", "SAME", "FASTER", "SLOWER"


@dataclass(frozen=True)
class Rule:
    min_effect: float = 0.03  # 1.03 is slower, 1 / 1.03 faster
    alpha: float = 0.01


@dataclass(frozen=True)
class Row:
    """`estimates`: one for each unit in which a workload is compared; a verdict needs all of them to agree."""

    workload: str
    estimates: tuple[Estimate, ...] = ()
    seconds: tuple[float, float] | None = None  # medians of base and head
    adjusted: tuple[float, ...] = ()  # p-values with Holm's correction, one per estimate
    effect: float = 0.0  # the difference that is needed here, at least min_effect
    effect_source: str = ""  # why it is more than min_effect; then SAME is impossible
    missing: str = ""  # why there is nothing to compare
    disturbed: str = ""  # how many samples are disturbed, if most are
    lost: bool = False  # base had a time, head failed the judge
    verdict: str = UNCLEAR
    reason: str = ""

    @property
    def ratio(self):
        return self.estimates[0].ratio if self.estimates else float("nan")


def decide(row: Row, rule: Rule) -> Row:
    if row.missing:
        return replace(row, reason=row.missing)
    if row.disturbed:
        return replace(row, reason=row.disturbed)
    up, down = 1 + row.effect, 1 / (1 + row.effect)
    percent = f"{100 * row.effect:.2g} %"
    worst_p = max(row.adjusted)
    significant = worst_p <= rule.alpha
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
    return replace(row, reason=_why_unclear(row, percent, beyond_up or beyond_down, p_text))


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
