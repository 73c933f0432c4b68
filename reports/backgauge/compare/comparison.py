# SPDX-License-Identifier: Apache-2.0
"""From the samples of two sides to rows with verdicts."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .. import surroundings
from ..claims import claims_in
from ..errors import CommandError
from ..run import Pair, Run, terms_in
from . import blocks, machines, statistics
from .timing import GROWTH
from .verdict import Row, Rule, decide

# The name of the row of the geometric mean, in place of a case line.
MEAN = "geometric mean"

# Two saved runs are two sets of processes at two times: the same code differs by this much between them
# (perf/results/results.h), and in all workloads alike.
LEAST_MEAN_OF_SAVED_RUNS = 0.02


@dataclass(frozen=True)
class Side:
    """One implementation in one run."""

    run: Run
    implementation: str

    @property
    def name(self):
        return f"{self.implementation} in {self.run.name}"

    @property
    def terms(self) -> dict[str, str]:
        """What the implementation claims, by the words of the ops."""
        ops = sorted({pair.case.op for pair in self.pairs().values()})
        return {op: text for op in ops if (text := terms_in(self.run.context, self.implementation, op))}

    @property
    def claims(self):
        """All that it claims, by the words of the ops; None if the run does not say."""
        return claims_in(self.run.context, self.implementation)

    @property
    def conduct(self):
        """How it was confined, what it loaded and what it was refused; "" if it was not confined."""
        return str(self.run.context.get(f"untrusted/{self.implementation}", ""))

    def pairs(self) -> dict[str, Pair]:
        return {workload: pair for (workload, name), pair in self.run.pairs.items() if name == self.implementation}


def side_of(run, implementation):
    """Raises CommandError if the run has no such implementation."""
    if implementation not in run.implementations:
        raise CommandError(f"{run.name} has no {implementation}, only {', '.join(run.implementations)}")
    return Side(run, implementation)


@dataclass(frozen=True)
class Comparison:
    """On input sides whose runs may be compared. `interleaved`: each round of one was timed next to the same round of the
    other. `control`: base once more, in the same rounds."""

    base: Side
    head: Side
    interleaved: bool
    rule: Rule
    control: Side | None = None
    seconds_per_block: float = float("nan")  # what one more block of one workload takes
    rule_of: Callable[[str], Rule] | None = None  # for a workload that has a rule of its own

    @property
    def differences(self):
        """All that base and head differ in besides their times."""
        return surroundings.differences(self.base.run.context, self.head.run.context)

    @property
    def apart(self):
        """The differences that rule out any verdict, in words; "" if there are none."""
        return surroundings.told(machines.apart(self.base.run, self.head.run, self.interleaved))

    def rows_and_mean(self) -> tuple[list[Row], Row]:
        """A row for every workload of either side, in base's order; and the row of the geometric mean of those that have an estimate."""
        base_pairs, head_pairs = self.base.pairs(), self.head.pairs()
        control_pairs = self.control.pairs() if self.control else {}
        rows = [_row(workload, base_pairs.get(workload), head_pairs.get(workload), control_pairs.get(workload), self)
                for workload in dict.fromkeys([*base_pairs, *head_pairs])]
        *rows, mean = _adjust([replace(row, apart=self.apart) for row in (*rows, _mean_row(rows, self))])
        return [decide(row, self.rule_for(row.workload)) for row in rows], decide(mean, self.rule)

    def rule_for(self, workload):
        return self.rule_of(workload) if self.rule_of else self.rule


def _row(workload, base_pair, head_pair, control_pair, comparison):
    base, head, rule = comparison.base, comparison.head, comparison.rule_for(workload)
    for pair, other, side in ((base_pair, head_pair, base), (head_pair, base_pair, head)):
        if pair is None:
            return Row(workload, missing=f"not in {side.run.name}", absent="base" if side is base else "head")
        if pair.unjudged:
            return Row(workload, missing=f"{side.name} was timed with --unjudged; such times are not compared")
        if not pair.has_time:
            why = " ".join(filter(None, [pair.verdict, pair.reason])) or "no samples"
            if pair.verdict == "SKIPPED" and other is not None and other.verdict == "SKIPPED":
                return Row(workload, missing=f"neither side does it: {why}", absent="both")
            lost = side is head and other is not None and other.has_time and pair.verdict in ("FAILED", "BROKEN")
            return Row(workload, missing=f"no time for {side.name}: {why}", lost=lost)
    row = Row(workload, least_effect=rule.min_effect)
    if comparison.interleaved:
        control_pair = control_pair if control_pair is not None and control_pair.has_time else None
        found = blocks.blocks_of(base_pair, head_pair, control_pair, base.run.threads)
        if found is not None:
            row = replace(row, seconds_spent=len(found.head) * comparison.seconds_per_block)
            return _row_of_blocks(row, base_pair, head_pair, found, rule)
    seconds = (float(np.median(_seconds(base_pair))), float(np.median(_seconds(head_pair))))
    if comparison.interleaved or machines.same_hardware(base.run, head.run):
        estimates = _estimates(base_pair, head_pair, comparison.interleaved, rule.level)
        effect, source = _effect(rule, base.run, head.run)
    else:
        factors = machines.calibrations(base.run, head.run, base_pair.case.dtype)
        plain = _seconds(base_pair), _seconds(head_pair)
        estimates = [replace(statistics.unpaired(plain[0], plain[1] * factor, rule.level), way=name)
                     for name, factor in factors.items()]
        effect, source = max(rule.min_effect, machines.SMALL_EFFECT), "different machines"
    return replace(row, estimates=tuple(estimates), seconds=seconds, disturbed=_disturbed(base_pair, head_pair),
                   effect=effect, effect_source=source)


def _row_of_blocks(row, base_pair, head_pair, found, rule):
    """What disturbs a block disturbs both sides, and the control shows how far that may carry them apart. So disturbed
    samples count, and the spread of the blocks says how much."""
    seconds = tuple(float(np.median([blocks.seconds_of(sample, found.clock) for sample in pair.samples]))
                    for pair in (base_pair, head_pair))
    noise = statistics.noise_of(found.control) if len(found.control) else float("nan")
    row = replace(row, estimates=(statistics.of_blocks(found.head, rule.level, found.clock),), seconds=seconds)
    return _with_noise(row, noise, rule.min_effect)


def _with_noise(row, noise, least):
    if noise > least:
        return replace(row, noise=noise, effect=noise, effect_source=f"base differs from itself by {_percent(noise)} here")
    return replace(row, noise=noise, effect=least)


def _percent(share):
    return f"{100 * share:.2g} %"


def _mean_row(rows, comparison):
    """The mean shows what no workload shows by itself: many small changes in one direction."""
    rule = comparison.rule
    counted = [row for row in rows if row.estimates and row.estimates[0].rounds >= statistics.LEAST_ROUNDS]
    if not counted:
        return Row(MEAN, missing="no workload has enough rounds")
    ways = min(len(row.estimates) for row in counted)
    estimates = tuple(statistics.geometric_mean([row.estimates[way] for row in counted], rule.level) for way in range(ways))
    least = rule.mean_effect if comparison.interleaved else max(rule.mean_effect, LEAST_MEAN_OF_SAVED_RUNS)
    row = Row(MEAN, estimates, least_effect=least, count=len(counted),
              seconds_spent=sum(row.seconds_spent for row in least_certain(counted)))
    row = _with_noise(row, _noise_of_mean(rows, comparison), least)
    disturbed = [row for row in counted if row.disturbed]
    if 2 * len(disturbed) > len(counted):
        return replace(row, disturbed=f"{len(disturbed)} of {len(counted)} workloads are disturbed")
    if not comparison.interleaved and not machines.same_hardware(comparison.base.run, comparison.head.run):
        return replace(row, effect=machines.SMALL_EFFECT, effect_source="different machines")
    return row


def least_certain(rows):
    """Those of these rows whose workloads should get more blocks if the mean of all is UNCLEAR: one block more takes
    error^2 / rounds off its variance. That is least where processes differ little, and most for calls with large tensors
    (a standard deviation of 8 % for 1.3 MB and of 1 % for others, AMD EPYC with 1 MB of L2: physical pages that share sets of the cache).
    A look adds GROWTH - 1 of the blocks, after which a workload has 1 / GROWTH^2 of that left: those above this share."""
    gains = {row.workload: row.estimates[0].error**2 / row.estimates[0].rounds for row in rows if row.estimates}
    most = max(gains.values(), default=0)
    return [row for row in rows if row.estimates and not gains[row.workload] * GROWTH**2 < most]


def _noise_of_mean(rows, comparison):
    """As for one workload: the far end of the interval of the control's geometric mean."""
    control = comparison.control.pairs() if comparison.control else {}
    base = comparison.base.pairs()
    found = [blocks.blocks_of(base[row.workload], control[row.workload], None, comparison.base.run.threads)
             for row in rows if row.estimates and row.workload in control and control[row.workload].has_time]
    level = 1 - statistics.NOISE_CONFIDENCE
    estimates = [statistics.of_blocks(one.head, level, one.clock) for one in found if one is not None]
    if not estimates:
        return float("nan")
    mean = statistics.geometric_mean(estimates, level)
    return max(mean.high, 1 / mean.low) - 1


def _disturbed(*pairs):
    """Why rounds of one process each do not count: most were disturbed; "" if they do. While other processes have the cores,
    even rounds in turn favour the side that keeps in step with the scheduler: one of two runs of the same code then seemed 2.2
    times as slow in the median of 60 rounds (reports/tests/recorded/time_sliced.json). Blocks are each out of step in another way."""
    for pair in pairs:
        count, most = sum(sample.disturbed for sample in pair.samples), len(pair.samples)
        if 2 * count > most:
            return (f"{count} of {most} samples of {pair.implementation} are disturbed; "
                    "timing both now, with --impl=A,B, would settle it")
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
