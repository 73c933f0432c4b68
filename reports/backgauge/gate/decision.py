# SPDX-License-Identifier: Apache-2.0
"""From verify, the times and the counts to one verdict, by the policy. It starts at UNCLEAR."""

from dataclasses import dataclass, field

from .. import errors
from ..case_line import workload_key
from ..claims import looser
from ..compare import verdict as times
from ..compare.text import name_of
from ..quantities import counted, seconds_text
from . import counts
from .policy import COUNTS, FORBID

PASSED, FAILED, SLOWER, UNCLEAR = "PASSED", "FAILED", "SLOWER", "UNCLEAR"
EXIT_CODES = {PASSED: errors.GOOD, FAILED: errors.FAILED, SLOWER: errors.SLOWER, UNCLEAR: errors.INCONCLUSIVE}


@dataclass(frozen=True)
class Finding:
    """One reason against green: which verdict it asks for, where, and why."""

    verdict: str
    where: str
    why: str

    @property
    def text(self):
        return f"{self.where}: {self.why}"


@dataclass
class Evidence:
    """What was measured. None: it was not."""

    verified: object = None  # VerifiedRun
    verify_code: int = 0
    comparison: object = None
    rows: list = field(default_factory=list)
    mean: object = None
    counts: list = field(default_factory=list)
    no_counts: str = ""  # why nothing was counted

    @property
    def conduct(self):
        """What confined implementations loaded and were refused, a line for each time."""
        of_verify = [f"verify: {line}" for line in (self.verified.conduct if self.verified else ())]
        sides = [("base", self.comparison.base), ("head", self.comparison.head)] if self.comparison else []
        return of_verify + [f"bench, {name}: {side.conduct}" for name, side in sides if side.conduct]


@dataclass(frozen=True)
class Decision:
    verdict: str
    line: str  # the first line of the summary
    findings: tuple[Finding, ...]

    @property
    def exit_code(self):
        return EXIT_CODES[self.verdict]


def decide(evidence, policy):
    findings = [*_of_verify(evidence), *_of_claims(evidence, policy), *_of_times(evidence, policy), *_of_counts(evidence)]
    for verdict in (FAILED, SLOWER, UNCLEAR):  # the worst first
        against = [finding for finding in findings if finding.verdict == verdict]
        if against:
            more = f", and {counted(len(against) - 1, 'more reason')}" if len(against) > 1 else ""
            return Decision(verdict, f"{against[0].text}{more}", tuple(findings))
    return Decision(PASSED, _green(evidence), ())


def _of_verify(evidence):
    if evidence.verified is None or evidence.verify_code == errors.GOOD:
        return
    verdict = FAILED if evidence.verify_code == errors.FAILED else UNCLEAR
    yield Finding(verdict, "verify", evidence.verified.text)


def _of_claims(evidence, policy):
    """A verdict is about what is claimed: with looser claims, a head that is worse may pass."""
    if evidence.comparison is None or policy.claims.looser != FORBID:
        return
    base, head = evidence.comparison.base, evidence.comparison.head
    if base.claims is not None and head.claims is not None:
        for line in looser(base.claims, head.claims):
            yield Finding(FAILED, "claims", f"{line}, and the policy forbids looser claims")
        return
    for op, terms in base.terms.items() if head.terms else ():
        if head.terms.get(op) != terms:
            yield Finding(UNCLEAR, "claims", f"{op}: base: {terms}; head: {head.terms.get(op, 'none')}. It cannot be decided which are looser: an older "
                                             "backgauge wrote one of the runs, without its full claims")


def _of_times(evidence, policy):
    if evidence.comparison is None:  # not timed
        return
    rows = evidence.rows
    of_counts = {row.workload: row.verdict for row in evidence.counts}
    for row in sorted(rows, key=lambda row: -row.ratio if row.estimates else 0):
        rule = policy.of(row.workload, _suite_of(row, evidence))
        where = name_of(row)
        if row.lost:
            yield Finding(FAILED, where, row.missing)
        elif row.verdict == times.SLOWER:
            yield Finding(SLOWER, where, _slower(row))
        elif row.absent == "head" or (row.missing and not row.absent):
            if rule.missing == FORBID:
                yield Finding(UNCLEAR, where, f"{row.missing}, and the policy forbids missing workloads")
        elif row.absent == "base":
            if rule.new == FORBID:
                yield Finding(UNCLEAR, where, f"{row.missing}, and the policy forbids new workloads")
        elif row.verdict == times.UNCLEAR:
            settled = of_counts.get(workload_key(row.workload)) in (counts.SAME, counts.FEWER)
            if rule.unclear == FORBID or (rule.unclear == COUNTS and not settled):
                yield Finding(UNCLEAR, where, f"UNCLEAR, which the policy forbids: {row.reason}")
        if rule.budget is not None and row.estimates and row.seconds[1] > rule.budget:
            yield Finding(SLOWER, where, f"{seconds_text(row.seconds[1])}, more than its budget of {seconds_text(rule.budget)}")
    if evidence.mean is not None and evidence.mean.verdict == times.SLOWER:
        yield Finding(SLOWER, name_of(evidence.mean), _slower(evidence.mean))
    decided = [row for row in (*rows, *filter(None, [evidence.mean])) if row.verdict != times.UNCLEAR]
    if not decided and not any(row.verdict != counts.UNCLEAR for row in evidence.counts):
        why = rows[0].reason if rows else "no workload was timed"
        yield Finding(UNCLEAR, "nothing could be decided", why)


def _of_counts(evidence):
    """What was counted is what counts may decide."""
    for row in evidence.counts:
        if row.verdict == counts.MORE:
            yield Finding(SLOWER, name_of(row), f"{100 * (row.ratio - 1):.2g} % more instructions ({row.counter})")


def _suite_of(row, evidence):
    for side in (evidence.comparison.base, evidence.comparison.head):
        pair = side.pairs().get(workload_key(row.workload))
        if pair is not None:
            return pair.suite
    return ""


def _slower(row):
    first = row.estimates[0]
    return f"{first.ratio:.3f} times as long as before (interval {first.low:.3f} .. {first.high:.3f})"


def _green(evidence):
    parts = []
    if evidence.verified is not None:
        parts.append(f"verify: {evidence.verified.text}")
    words = [(word, sum(row.verdict == word for row in evidence.rows)) for word in (times.FASTER, times.SAME, times.UNCLEAR)]
    parts.append("times: " + ", ".join(f"{number} {word}" for word, number in words if number))
    if evidence.mean is not None and evidence.mean.estimates:
        first = evidence.mean.estimates[0]
        parts.append(f"mean {first.ratio:.3f} ({first.low:.3f} .. {first.high:.3f})")
    words = [(word, sum(row.verdict == word for row in evidence.counts)) for word in (counts.FEWER, counts.SAME, counts.UNCLEAR)]
    if evidence.counts:
        parts.append("instructions: " + ", ".join(f"{number} {word}" for word, number in words if number))
    return "; ".join(parts)
