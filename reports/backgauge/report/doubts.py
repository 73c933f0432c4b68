# SPDX-License-Identifier: Apache-2.0
"""Warnings that a reader needs before the first number: runs that failed, or were noisy, partial, impossible or old."""

import datetime
from dataclasses import dataclass

from ..quantities import counted, percent_text
from ..run import UNJUDGED
from ..table import LEAST_NOISE

OLD_DAYS = 30  # jobs that run nightly or weekly, which make most pages, have long measured again
_WRONG = ("FAILED", "BROKEN")
IMPLAUSIBLE = "IMPLAUSIBLE"


@dataclass(frozen=True)
class Doubt:
    word: str  # FAILED, IMPLAUSIBLE, NOISY, PARTIAL, OLD
    text: str  # one or two sentences

    @property
    def color(self):
        return "bad" if self.word == "FAILED" else "unsure"


def doubts(material, now):
    """The worst first. `now` has a time zone."""
    rows = material.table.rows
    return [*_failed(rows), *_implausible(rows), *_noisy(material), *_partial(material), *_old(material, now)]


def _failed(rows):
    wrong = [row for row in rows if row.verdict in _WRONG]
    if not wrong:
        return []
    first = wrong[0]
    names = ", ".join(dict.fromkeys(row.implementation for row in wrong))
    return [Doubt("FAILED", f"{len(wrong)} of {counted(len(rows), 'result')} of bench wrong, and without a time: {names}. The first: "
                            f"{_named(first)}: {' '.join(filter(None, [first.verdict, first.reason]))}")]


def _implausible(rows):
    impossible = [row for row in rows if row.verdict == IMPLAUSIBLE]
    beyond = [row for row in rows if row.is_beyond_belief]
    found = []
    if impossible:
        found.append(Doubt(IMPLAUSIBLE, f"{counted(len(impossible), 'time')} shorter than this machine allows; none of them is compared. "
                                        f"The first: {_named(impossible[0])}: {impossible[0].reason}"))
    if beyond:
        most = max(beyond, key=lambda row: row.share_of_limit)
        found.append(Doubt("BEYOND THE LIMIT", f"{counted(len(beyond), 'time')} of more than 100 % of the measured limit, marked with ‡ in the table; most: "
                                               f"{percent_text(most.share_of_limit)}, {_named(most)}. {_why_beyond(most)}"))
    return found


def _why_beyond(row):
    if row.above_limit:
        return f"{row.above_limit[0].upper()}{row.above_limit[1:]}."
    return "Either the limit was measured while the machine was busy, or the call is not bound by this limit."


def _noisy(material):
    found = []
    for run in material.runs:
        samples, disturbed = run.sample_counts
        noise = run.number("noise_aa")
        said = []
        if 2 * disturbed > samples:
            said.append(f"{disturbed} of {counted(samples, 'sample')} disturbed by other programs")
        if noise > LEAST_NOISE:
            said.append(f"the same code, timed twice, differed by {percent_text(noise) if noise >= 0.1 else f'{100 * noise:.1f} %'}; "
                        "differences of that size mean nothing")
        if said:
            found.append(Doubt("NOISY", f"{run.name}: {'; '.join(said)}."))
    return found


def _partial(material):
    found = []
    for run in material.runs:
        planned, done = run.number("workloads_planned"), len({workload for workload, _ in run.pairs})
        if planned > done:
            found.append(Doubt("PARTIAL", f"{run.name}: {done} of {planned:.0f} workloads run; {_why_ended(run)}."))
    rows = material.table.rows
    skipped = [row for row in rows if row.verdict == "SKIPPED"]
    if skipped:
        reasons = dict.fromkeys(row.reason or "no reason given" for row in skipped)
        more = f", and {counted(len(reasons) - 1, 'other reason')}" if len(reasons) > 1 else ""
        found.append(Doubt("PARTIAL", f"{len(skipped)} of {counted(len(rows), 'result')} skipped: {next(iter(reasons))}{more}."))
    untimed = [row for row in rows if not row.has_time and row.verdict in ("PASSED", UNJUDGED)]
    if untimed:
        found.append(Doubt("PARTIAL", f"no time was left for {len(untimed)} of {counted(len(rows), 'result')}; they passed, and were not timed."))
    return found


def _why_ended(run):
    return {"interrupted": "the run was interrupted", "max-time": "--max-time was reached"}.get(
        run.context.get("ended"), "it did not reach its end")


def _old(material, now):
    dates = [(run.date, run.name) for run in material.runs if run.date]
    dates += [(run.date, run.implementation) for run in material.verified if run.date]
    if not dates:
        return []
    oldest, name = min(dates)
    days = (now - oldest) // datetime.timedelta(days=1)
    return [Doubt("OLD", f"{name} is of {oldest:%Y-%m-%d}, {days} days before this page was made.")] if days >= OLD_DAYS else []


def _named(row):
    return f"{row.implementation}: {row.case.name}"
