# SPDX-License-Identifier: Apache-2.0
"""The one place that decides. A verdict starts at UNCLEAR and is moved only by effect and significance together."""

from dataclasses import dataclass, replace

from .statistics import Estimate

UNCLEAR, SAME, FASTER, SLOWER = "UNCLEAR", "SAME", "FASTER", "SLOWER"


@dataclass(frozen=True)
class Rule:
    min_effect: float = 0.03  # 1.03 is slower, 1 / 1.03 faster
    alpha: float = 0.01


@dataclass(frozen=True)
class Row:
    """On input `estimates` are the ways to look at one workload; a verdict needs all of them to agree."""

    workload: str
    estimates: tuple[Estimate, ...] = ()
    seconds: tuple[float, float] | None = None  # medians of base and head
    adjusted: tuple[float, ...] = ()  # p-values after Holm, one per estimate
    effect: float = 0.0  # what this workload's noise asks for, at least min_effect
    effect_source: str = ""  # why it is more than min_effect
    missing: str = ""  # why there is nothing to compare
    lost: bool = False  # base had a time, head failed the judge
    least_p: float = 0.0  # the smallest p-value that its rounds can give, after Holm
    verdict: str = UNCLEAR
    reason: str = ""

    @property
    def ratio(self):
        return self.estimates[0].ratio if self.estimates else float("nan")


def decide(row: Row, rule: Rule) -> Row:
    if row.missing:
        return replace(row, reason=row.missing)
    up, down = 1 + row.effect, 1 / (1 + row.effect)
    percent = f"{100 * row.effect:.2g} %"
    worst_p = max(row.adjusted)
    significant = worst_p <= rule.alpha
    beyond_up = all(estimate.ratio >= up for estimate in row.estimates)
    beyond_down = all(estimate.ratio <= down for estimate in row.estimates)
    inside = all(down < estimate.low and estimate.high < up for estimate in row.estimates)
    p_text = f"p {worst_p:.1g}"
    if (beyond_up or beyond_down) and significant:
        word = SLOWER if beyond_up else FASTER
        return replace(row, verdict=word, reason=f"at least {percent} {word.lower()} and significant, {p_text}")
    if inside:
        return replace(row, verdict=SAME, reason=f"interval within {percent} either way")
    return replace(row, reason=_why_unclear(row, rule, percent, beyond_up or beyond_down, p_text))


def _why_unclear(row, rule, percent, beyond, p_text):
    because = f" ({row.effect_source})" if row.effect_source else ""
    if beyond and row.least_p > rule.alpha:
        return f"too few rounds: {row.estimates[0].rounds} cannot reach significance at {rule.alpha:g}"
    if beyond:
        return f"more than {percent}, but not significant, {p_text}"
    if len(row.estimates) > 1 and any(abs_effect(e.ratio) >= row.effect for e in row.estimates):
        ratios = ", ".join(f"{estimate.ratio:.3f} {estimate.test}" for estimate in row.estimates)
        return f"two ways to look at it disagree: {ratios}"
    return f"less than {percent}{because}, but the interval reaches beyond it"


def abs_effect(ratio):
    return max(ratio, 1 / ratio) - 1
