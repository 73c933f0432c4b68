# SPDX-License-Identifier: Apache-2.0
"""The result of a bisect, for people and for programs. README.md in the folder above documents the JSON."""

import math

from ...compare.statistics import quotient
from ...compare.verdict import SLOWER
from ...quantities import counted, ratio_text
from .search import SKIPPED, known

SCHEMA = "backgauge.bisect/1"


class Result:
    """`commits`: (id, subject) of the range, from the good end to the bad one. `state` has the ends and what was tried."""

    def __init__(self, commits, state, alpha):
        self._commits, self._state, self._alpha = commits, state, alpha
        self.ends = state.ends
        numbers = {commit: k for k, (commit, _) in enumerate(commits)}
        self._tried = {numbers[commit]: each for commit, each in state.tried.items()}
        self.known = known(len(commits) - 1, {k: each.what for k, each in self._tried.items()})

    @property
    def is_slower(self):
        """Whether there is something to look for."""
        return self.ends.verdict == SLOWER

    @property
    def is_one(self):
        return len(self.known.possible) == 1

    def step(self):
        """The first bad commit against the last good one."""
        bad, good = self._estimate(self.known.bad), self._estimate(self.known.good)
        return bad if good is None else quotient(bad, good, self._alpha)

    def _estimate(self, k):
        """Against the good end; None for that itself."""
        measured = self._tried[k].measured if k in self._tried else self.ends.measured
        return measured.estimate if k else None

    def share(self):
        """How much of the whole slow-down the step is, as logarithms: 1 is all of it."""
        return math.log(self.step().ratio) / math.log(self.ends.measured.estimate.ratio)

    def as_object(self):
        ends = self.ends
        entry = {"schema": SCHEMA, "verdict": ends.verdict, "reason": ends.measured.reason,
                 "good": self._named(0), "bad": self._named(len(self._commits) - 1),
                 "commits": len(self._commits) - 1, "workload": ends.workload or None, "also_slower": list(ends.also),
                 "whole": _numbers(ends.measured.estimate), "confidence": 1 - self._alpha}
        if self.is_slower:
            entry |= {"possible": [self._named(k) for k in self.known.possible], "last_good": self._named(self.known.good),
                      "step": _numbers(self.step())}
        entry["tried"] = [self._named(k) | {"is": each.what, "reason": each.reason}
                          | ({"noise": each.measured.as_object()["noise"], "blocks": each.measured.blocks,
                              "ratio_to_good": _numbers(each.measured.estimate)} if each.measured else {})
                          for k, each in sorted(self._tried.items())]
        return entry

    def _named(self, k):
        commit, subject = self._commits[k]
        return {"id": commit, "subject": subject}

    def text(self):
        ends = self.ends
        if not self.is_slower:
            return (f"no slow-down to look for: from {self.short(0)} to {self.short(len(self._commits) - 1)} {ends.name} is {ends.verdict}"
                    f"{_ratio(', ', ends.measured.estimate)}: {ends.measured.reason}")
        lines = list(self._commit_lines())
        step = f"{_ratio('', self.step())} times the time of {self.short(self.known.good)}"
        lines.append(f"{ends.name}: {step}; from end to end{_ratio(' ', ends.measured.estimate)}")
        if self.is_one and self.step().high < ends.measured.estimate.low:
            lines.append(f"This is {100 * self.share():.0f} % of the slow-down. Other commits of the range made the rest.")
        if ends.also:
            lines.append(f"Also slower at the bad end, and not followed: {', '.join(ends.also)}")
        tried = sum(each.measured is not None for each in self._tried.values())
        lines.append(f"{tried} of {counted(len(self._commits) - 2, 'commit')} between the ends timed; intervals of {100 * (1 - self._alpha):g} %")
        return "\n".join(lines)

    def _commit_lines(self):
        if self.is_one:
            yield f"first bad commit: {self.described(self.known.bad)}"
            return
        yield f"The first bad commit is one of {len(self.known.possible)}, because some could not be decided:"
        for k in self.known.possible:
            each = self._tried.get(k)
            yield f"  {self.described(k)}" + (f": {each.reason}" if each and each.what == SKIPPED else "")

    def short(self, k):
        return self._commits[k][0][:10]

    def described(self, k):
        return f"{self.short(k)} {self._commits[k][1]}"


def _ratio(before, estimate):
    if estimate is None:
        return ""
    return f"{before}{ratio_text(estimate.ratio)} ({ratio_text(estimate.low)} .. {ratio_text(estimate.high)})"


def _numbers(estimate):
    if estimate is None:
        return None
    return {name: value if 0 < value < float("inf") else None
            for name, value in (("ratio", estimate.ratio), ("low", estimate.low), ("high", estimate.high))}
