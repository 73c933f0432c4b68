# SPDX-License-Identifier: Apache-2.0
"""Chooses the next commit to try. Commits are numbered along the range: 0 is the good end, `last` the bad one."""

from dataclasses import dataclass

GOOD, BAD, SKIPPED = "good", "bad", "skipped"


@dataclass(frozen=True)
class Known:
    """The first bad commit is after `good` and at most `bad`."""

    good: int
    bad: int
    skipped: tuple[int, ...]  # between them

    @property
    def possible(self):
        """The first bad commit is one of these."""
        return range(self.good + 1, self.bad + 1)


def known(last, tried):
    """`tried`: {number: GOOD, BAD or SKIPPED}. Every commit from the first bad one on is taken for bad, so that what was tried outside
    of the narrowest range does not count."""
    good = max((k for k, what in tried.items() if what == GOOD), default=0)
    bad = min((k for k, what in tried.items() if what == BAD), default=last)
    return Known(good, bad, tuple(sorted(k for k, what in tried.items() if what == SKIPPED and good < k < bad)))


def next_commit(now: Known):
    """The one to try, or None if nothing is left: the middle of the longest stretch without a skipped commit. Commits that cannot be
    built are often neighbours, so the neighbour of one is the worst guess, and commits between two of them come last."""
    borders = [now.good, *now.skipped, now.bad]
    stretches = [range(left + 1, right) for left, right in zip(borders, borders[1:]) if right - left > 1]
    if not stretches:
        return None
    middle = (now.good + now.bad) / 2

    def merit(stretch):
        meets_known = stretch.start == now.good + 1 or stretch.stop == now.bad
        return meets_known, len(stretch), -abs((stretch[0] + stretch[-1]) / 2 - middle)

    best = max(stretches, key=merit)
    return best[(len(best) - 1) // 2]
