# SPDX-License-Identifier: Apache-2.0
"""backgauge history check: which commits made what slower, and whether that is new."""

import datetime
import json
import math
from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np

from .. import errors
from ..surroundings import told
from . import store, text
from .align import Aligned, aligned
from .changes import DRIFT, MACHINE, SHORTEST, Change, Rule
from .series import Series, changed, chosen, series_of

SLOWER, FASTER = "SLOWER", "FASTER"


@dataclass(frozen=True)
class Found:
    series: Series
    aligned: Aligned
    change: Change
    is_new: bool

    @property
    def verdict(self):
        if self.change.kind == MACHINE:
            return "MACHINE"
        return SLOWER if self.change.ratio > 1 else FASTER

    @property
    def is_slower(self):
        """Whether it is SLOWER and the last runs still are."""
        fit = self.aligned.analysis.fit
        now = fit[-1] - fit[max(self.change.first - 1, 0)]
        # Not back by more than half: an old level that is reached again within the noise is mended.
        return self.verdict == SLOWER and now > np.log(self.change.ratio) / 2

    def commit(self, k):
        return self.series.points[k].entry.commit

    @property
    def last_good(self):
        return self.commit(max(self.change.earliest - 1, 0))

    @property
    def range(self):
        """The last commit that is surely good and the first that is surely bad, as git writes it."""
        return f"{self.last_good.short}..{self.commit(self.change.latest).short}"

    @property
    def percent(self):
        low, high = (f"{100 * (value - 1):+.1f}" for value in (self.change.low, self.change.high))
        return f"{100 * (self.change.ratio - 1):+.1f} % ({low} .. {high})"

    @property
    def note(self):
        if self.change.kind == MACHINE:
            return "only the multiply-add loop changed: the machine, not the code"
        if self.verdict == SLOWER and not self.is_slower:
            return "mended since"
        if self.change.kind == DRIFT:
            return f"slow drift over {self.change.stop - self.change.first} runs, no step"
        at = next((s for s in self.aligned.switches if self.change.earliest <= s.first <= self.change.latest), None)
        return "the machine changed here as well" if at else ""


def examined(entries, implementation, rule):
    """[(series, its Aligned)] of all series that have times."""
    return [(series, aligned(series, rule)) for series in series_of(entries, implementation) if series.points]


def found_in(pairs, days):
    """All changes, the worst first. New: the last run is at most `days` younger than the first one of the new level."""
    found = []
    for series, of_series in pairs:
        newest = max(point.entry.measured for point in series.points)
        for change in of_series.analysis.changes:
            # A drift is new as long as it goes on, and for as many days after its end.
            place = change.stop - 1 if change.kind == DRIFT else change.first
            since = series.points[place].entry.measured
            found.append(Found(series, of_series, change, newest - since <= datetime.timedelta(days=days)))
    return sorted(found, key=lambda each: (not each.is_new, each.verdict != SLOWER, -abs(each.change.ratio - 1)))


def check(options):
    entries = chosen(store.read(store.opened(options)), options)
    rule = Rule(options.min_effect, options.false_alarms)
    pairs = examined(entries, options.impl, rule)
    found = found_in(pairs, options.days)
    shown = [each for each in found if each.is_new or options.all]
    if options.format == "json":
        print(json.dumps(_machine(shown, pairs), indent=1))
        return exit_code(pairs, found, options)
    head = ["verdict", "workload", "implementation", "change", "first bad commit", "made", "note"]
    print(text.render(head, [_line(each) for each in shown], (), options.format))
    print("\n" + "\n".join(_summary(pairs, found, options, rule)))
    return exit_code(pairs, found, options)


def _machine(shown, pairs):
    changes = [{"verdict": each.verdict, "kind": each.change.kind, "is_new": each.is_new, "workload": each.series.key.workload,
                "implementation": each.series.key.implementation, "branch": each.series.key.branch,
                "machine": each.series.key.machine.text, "clock": each.series.clock, "ratio": each.change.ratio,
                "low": each.change.low, "high": each.change.high, "p": each.change.p, "last_good": each.last_good.id,
                "first_bad": each.commit(each.change.first).id, "surely_bad": each.commit(each.change.latest).id, "note": each.note}
               for each in shown]
    series = [{"workload": series.key.workload, "implementation": series.key.implementation, "branch": series.key.branch,
               "machine": series.key.machine.text, "runs": len(series.points), "clock": series.clock,
               "noise": _finite(of_series.analysis.noise), "sensitivity": _finite(of_series.analysis.sensitivity),
               "pending": of_series.analysis.pending and asdict(of_series.analysis.pending)}
              for series, of_series in pairs]
    return {"schema": "backgauge.history.check/1", "changes": changes, "series": series}


def _finite(value):
    return value if math.isfinite(value) else None


def _line(each):
    first = each.commit(each.change.first)
    return [each.verdict if each.is_new else f"{each.verdict} (earlier)", each.series.key.case_text, each.series.key.implementation,
            each.percent, each.range, text.day(first.time), each.note]


def _summary(pairs, found, options, rule):
    new = Counter(each.verdict for each in found if each.is_new)
    words = ", ".join(f"{count} {word}" for word, count in sorted(new.items())) or "nothing changed"
    yield f"summary: {len(pairs)} series; in the last {options.days:g} days {words}; {sum(not e.is_new for e in found)} earlier changes"
    lost = [series for series, _ in pairs if series.lost]
    for series in lost:
        yield (f"no time: {series.key.case_text} of {series.key.implementation} at {series.lost.entry.commit.short}: "
               f"{series.lost.timing.verdict} {series.lost.timing.reason}").rstrip()
    yield from (_pending_text(series, of_series.analysis.pending) for series, of_series in pairs if of_series.analysis.pending)
    short = [series for series, of_series in pairs if is_undecided(of_series)]
    if short:
        yield f"{len(short)} of {len(pairs)} series are too short to be decided: fewer than 6 runs"
    noisy = [of_series.analysis.sensitivity for _, of_series in pairs if of_series.analysis.sensitivity > options.noisy]
    if noisy:
        yield (f"{len(noisy)} of {len(pairs)} series are too noisy to show a step of {100 * options.noisy:g} % within three runs; "
               f"the worst shows {100 * max(noisy):.0f} %")
    unknown = [series for series, of_series in pairs if any(not switch.is_known for switch in of_series.switches)]
    if unknown:
        yield (f"in {len(unknown)} series the machine changed once: a change of the code at the same commit cannot be distinguished "
               "from it, and was not looked for")
        yield from sorted({_switch_text(series, switch) for series, of_series in pairs for switch in of_series.switches if not switch.is_known})
    yield (f"steps from {100 * rule.min_effect:g} %; at most {rule.false_per_series_month:g} false alarms for each series in a month of "
           "nightly runs")


def _switch_text(series, switch):
    before, after = (series.points[k].entry for k in (switch.first - 1, switch.first))
    return f"  at {after.commit.short}: {told(changed(before.context, after.context))}"


def _pending_text(series, pending):
    runs = "the last run is" if pending.runs == 1 else f"the last {pending.runs} runs are"
    missing = (f"it takes {SHORTEST} runs that agree to call it a change" if pending.runs < SHORTEST
               else "the series is too noisy to call it a change")
    return (f"pending: {series.key.case_text} of {series.key.implementation}: {runs} off by {100 * (pending.ratio - 1):+.1f} %; {missing}")


def is_undecided(of_series):
    return of_series.analysis.noise != of_series.analysis.noise


def exit_code(pairs, found, options):
    if any(series.lost and series.lost.timing.verdict in ("FAILED", "BROKEN") for series, _ in pairs):
        return errors.FAILED
    if any(each.is_new and each.is_slower for each in found):
        return errors.SLOWER
    undecided = any(is_undecided(of_series) or of_series.analysis.pending or of_series.analysis.sensitivity > options.noisy
                    for _, of_series in pairs)
    return errors.INCONCLUSIVE if options.strict and undecided else errors.GOOD
