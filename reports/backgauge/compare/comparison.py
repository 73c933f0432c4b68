# SPDX-License-Identifier: Apache-2.0
"""From the samples of two sides to rows with verdicts."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ..run import Pair, Run
from . import machines, statistics
from .verdict import Row, Rule, decide


@dataclass(frozen=True)
class Side:
    """One implementation in one run."""

    run: Run
    implementation: str

    @property
    def name(self):
        return f"{self.implementation} in {self.run.name}"

    def pairs(self) -> dict[str, Pair]:
        return {workload: pair for (workload, name), pair in self.run.pairs.items() if name == self.implementation}


@dataclass(frozen=True)
class Comparison:
    """On input sides whose runs may be compared. `interleaved`: each round of one was timed next to the same round of the other."""

    base: Side
    head: Side
    interleaved: bool
    rule: Rule

    def rows(self) -> list[Row]:
        """A row for every workload of either side, in base's order."""
        base_pairs, head_pairs = self.base.pairs(), self.head.pairs()
        rows = [_row(workload, base_pairs.get(workload), head_pairs.get(workload), self)
                for workload in dict.fromkeys([*base_pairs, *head_pairs])]
        return [decide(row, self.rule) for row in _adjust(rows)]


def _row(workload, base_pair, head_pair, comparison):
    base, head, rule = comparison.base, comparison.head, comparison.rule
    for pair, other, side in ((base_pair, head_pair, base), (head_pair, base_pair, head)):
        if pair is None:
            return Row(workload, missing=f"not in {side.run.name}")
        if pair.unjudged:
            return Row(workload, missing=f"{side.name} was timed with --unjudged; such times are not compared")
        if not pair.has_time:
            why = " ".join(filter(None, [pair.verdict, pair.reason])) or "no samples"
            lost = side is head and other is not None and other.has_time and pair.verdict in ("FAILED", "BROKEN")
            return Row(workload, missing=f"no time for {side.name}: {why}", lost=lost)
    seconds = (float(np.median(_seconds(base_pair))), float(np.median(_seconds(head_pair))))
    if comparison.interleaved or machines.same_machine(base.run, head.run):
        estimates = _estimates(base_pair, head_pair, comparison.interleaved, rule.alpha)
        effect, source = _effect(rule, base.run, head.run)
    else:
        factors = machines.calibrations(base.run, head.run, base_pair.case.dtype)
        plain = _seconds(base_pair), _seconds(head_pair)
        estimates = [replace(statistics.unpaired(plain[0], plain[1] * factor, rule.alpha), way=name)
                     for name, factor in factors.items()]
        effect, source = max(rule.min_effect, machines.SMALL_EFFECT), "different machines"
    return Row(workload, tuple(estimates), seconds=seconds, disturbed=_disturbed(base_pair, head_pair),
               effect=effect, effect_source=source)


def _disturbed(*pairs):
    """Where others had the cores most of the time, even rounds in turn favour one side: whoever keeps in step with the
    scheduler. Of the same code twice one was then seen 2.2 times as slow in the median of 60 rounds
    (reports/tests/recorded/time_sliced.json)."""
    for pair in pairs:
        count, most = sum(sample.disturbed for sample in pair.samples), len(pair.samples)
        if 2 * count > most:
            return f"{count} of {most} samples of {pair.implementation} are disturbed"
    return ""


def _effect(rule, base, head):
    """A run cannot show an effect that it measured between one implementation and itself."""
    noise = max((run.number("noise_aa") for run in (base, head)), key=lambda value: -1 if math.isnan(value) else value)
    if not math.isnan(noise) and noise > rule.min_effect:
        return noise, f"A/A noise of the run {100 * noise:.1f} %"
    return rule.min_effect, ""


def _estimates(base_pair, head_pair, interleaved, alpha):
    """Interleaved rounds are paired. Two runs are compared in seconds and in units of the multiply-add loop."""
    if interleaved:
        return [statistics.paired(*_common_rounds(base_pair, head_pair), alpha)]
    estimates = [statistics.unpaired(_seconds(base_pair), _seconds(head_pair), alpha)]
    # A slower clock in one of the runs slows the multiply-add loop too; that is not a change of the code.
    in_yardsticks = _in_yardsticks(base_pair), _in_yardsticks(head_pair)
    if all(values is not None for values in in_yardsticks):
        estimates.append(replace(statistics.unpaired(*in_yardsticks, alpha), way="in yardsticks"))
    return estimates


def _common_rounds(base_pair, head_pair):
    """Seconds of both in the rounds where neither was disturbed, or in all rounds if those are too few."""
    sides = [{s.round: s for s in pair.samples} for pair in (base_pair, head_pair)]
    rounds = sorted(sides[0].keys() & sides[1].keys())
    quiet = [r for r in rounds if not (sides[0][r].disturbed or sides[1][r].disturbed)]
    chosen = quiet if 2 * len(quiet) >= len(rounds) else rounds
    return [np.array([side[r].seconds for r in chosen]) for side in sides]


def _seconds(pair):
    return np.array([sample.seconds for sample in pair.quiet_samples()])


def _in_yardsticks(pair):
    values = np.array([sample.seconds * sample.fma_gflops for sample in pair.quiet_samples()])
    return values if np.all(np.isfinite(values)) else None


def _adjust(rows):
    """Holm's correction over all tests in the same unit."""
    compared = [row for row in rows if row.estimates]
    if not compared:
        return rows
    ways = max(len(row.estimates) for row in compared)
    adjusted = {id(row): [] for row in compared}
    for way in range(ways):
        having = [row for row in compared if len(row.estimates) > way]
        for row, p in zip(having, statistics.holm([row.estimates[way].p for row in having])):
            adjusted[id(row)].append(float(p))
    return [replace(row, adjusted=tuple(adjusted[id(row)])) if row.estimates else row for row in rows]
