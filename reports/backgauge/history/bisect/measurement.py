# SPDX-License-Identifier: Apache-2.0
"""Times a build next to the good one, until it is decided on which side of the middle it is.

The middle is the geometric one of the whole slow-down, its square root: ratios multiply, and the errors of their logarithms are
alike, so that it is as far from the good end as from the bad one.
"""

import math
from dataclasses import asdict, dataclass, replace

from ...compare import timing
from ...compare.comparison import MEAN, least_certain
from ...compare.statistics import Estimate, alpha_of_look
from ...compare.text import name_of
from ...compare.timed import comparison_of, timed
from ...compare.verdict import SLOWER, UNCLEAR
from ...errors import NOT_LOADED, CommandError
from ...run import read_run
from .search import BAD, GOOD


@dataclass(frozen=True)
class Measured:
    """A build against the good end. `side` None: no time, or the interval and the noise reach both sides of the middle."""

    side: str | None
    reason: str  # why there is no side
    estimate: Estimate | None
    noise: float  # of the good end against itself in the same rounds; nan if it is unknown
    blocks: int

    def as_object(self):
        return asdict(self) | {"noise": _finite(self.noise), "estimate": self.estimate and {
            name: _finite(value) if isinstance(value, float) else value for name, value in asdict(self.estimate).items()}}


def measured_of(held):
    """The inverse of as_object(). Raises KeyError, TypeError."""
    estimate = held["estimate"] and Estimate(**{name: _number(value) for name, value in held["estimate"].items()})
    return Measured(held["side"], held["reason"], estimate, _number(held["noise"]), held["blocks"])


def _finite(value):
    return value if math.isfinite(value) else None


def _number(value):
    return math.nan if value is None else value


@dataclass(frozen=True)
class Ends:
    """The bad end against the good one. `workload`: the one that is followed, the geometric mean of all if only that is SLOWER, or ""
    if nothing is."""

    workload: str
    name: str  # as people call it
    also: tuple[str, ...]  # other workloads that are SLOWER
    lost: bool  # the bad end is wrong where the good one is right
    verdict: str
    measured: Measured

    @property
    def middle(self):
        return math.sqrt(self.measured.estimate.ratio)

    def options(self, bench_options):
        """Those for builds between the ends, of which only what is followed is timed."""
        if self.workload == MEAN:
            return bench_options
        return [*timing.without(bench_options, timing.CHOOSING), "--case", self.workload]

    def as_object(self):
        return asdict(self) | {"measured": self.measured.as_object()}


def ends_of(held):
    return Ends(**held | {"also": tuple(held["also"]), "measured": measured_of(held["measured"])})


class RememberedTurns(timing.Turns):
    """Those of one program. Each look is remembered when it is over, and an interrupted process goes on after the last one.
    `looks_before`: [blocks, seconds] of each; `remember` is called with the same list, longer."""

    def recall(self, looks_before, remember):
        self._remembered, self._remember = [], remember
        for blocks, seconds in looks_before:
            self.runs = self.runs or [[]]
            self.runs[0].append(read_run(self.folder / f"run{self.launches}.json"))
            self.launches += 1
            self.looked(blocks, seconds)
            self._remembered.append([blocks, seconds])
        return self

    def add(self, blocks, workloads=()):
        before = self.seconds
        super().add(blocks, workloads)
        self._remembered.append([blocks, self.seconds - before])
        self._remember(self._remembered)


def measure_ends(turns, patience, rule):
    """First as `backgauge compare` does, until something is SLOWER; then the workload that is followed, until the good end is on its
    side of the middle: SLOWER says only that the ratio is not 1."""
    rows, mean = timed(turns, patience, rule).rows_and_mean()
    slower = sorted((row for row in rows if row.verdict == SLOWER), key=lambda row: -row.ratio)
    if not slower and mean.verdict != SLOWER:
        return _nothing_slower(rows, mean)
    followed = (slower or [mean])[0]
    measured = _until_decided(turns, patience, rule, followed.workload, None)
    also = tuple(name_of(row) for row in slower[1:])
    # Too close to its middle, all commits would be.
    verdict = SLOWER if measured.side == BAD else UNCLEAR
    return Ends(followed.workload, name_of(followed), also, False, verdict, measured)


def _nothing_slower(rows, mean):
    lost = next((row for row in rows if row.lost), None)
    row = lost or next((row for row in rows if row.verdict == UNCLEAR), mean)
    estimate = row.estimates[0] if row.estimates else None
    return Ends("", name_of(row), (), lost is not None, row.verdict,
                Measured(None, row.reason, estimate, row.noise, estimate.rounds if estimate else 0))


def measure(turns, patience, rule, ends, decision):
    """`decision`: how many builds are decided with this one. All decisions together may spend alpha: number k may spend
    alpha / (k (k + 1))."""
    rule = replace(rule, alpha=alpha_of_look(rule.alpha, decision))
    try:
        return _until_decided(turns, patience, rule, ends.workload, ends.middle)
    except CommandError as error:
        if error.exit_code != NOT_LOADED:
            raise
        return Measured(None, "it cannot be loaded", None, math.nan, 0)


def _until_decided(turns, patience, rule, workload, middle):
    """`middle` None: that of what is measured."""
    def now(look):
        rows, mean = comparison_of(turns, replace(rule, look=look)).rows_and_mean()
        row = mean if workload == MEAN else next((row for row in rows if row.workload == workload), None)
        return decided(row, middle), rows

    def unclear(_, look):
        found, rows = now(look)
        if found.side or not found.estimate:
            return None
        return [row.workload for row in least_certain(rows)] if workload == MEAN else [workload]

    return now(timing.until_clear(turns, patience, unclear))[0]


def decided(row, middle):
    """What a row of the comparison says of a build. `middle` None: that of its own ratio."""
    if row is None or not row.estimates:
        return Measured(None, row.reason if row else "it was not timed", None, math.nan, 0)
    estimate = row.estimates[0]
    middle = middle or math.sqrt(estimate.ratio)
    noisy = row.noise > middle - 1
    side = None if noisy else BAD if estimate.low > middle else GOOD if estimate.high < middle else None
    why = f"the good end differs from itself by {100 * row.noise:.2g} %" if noisy else "the interval reaches both sides"
    reason = "" if side else f"undecided after {estimate.rounds} blocks: the middle of the slow-down is {middle:.3f}, and {why}"
    return Measured(side, reason, estimate, row.noise, estimate.rounds)
