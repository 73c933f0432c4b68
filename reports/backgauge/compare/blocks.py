# SPDX-License-Identifier: Apache-2.0
"""From the samples of base and head, timed in turns, to one number for each block of rounds.

A block is a set of processes: the rounds in it share the accidents of their addresses and of the scheduler, which no test
on rounds can see. Blocks are independent of each other, so they are what the statistics count. Where base was timed twice
in each round (the control), head is compared with the mean of both, and base with itself: the A/A noise of the run.
"""

from dataclasses import dataclass

import numpy as np

CPU, WALL = "CPU time", "time"

# A call that waits now and then for a page or a lock is still one that computes; trimming takes a fifth at each end.
MOST_WAITING = 0.1

# The t-test of fewer blocks has so few degrees of freedom that no ratio would be significant (statistics.py).
LEAST_BLOCKS = 5


@dataclass(frozen=True)
class Blocks:
    """Logarithms of ratios. Empty `control`: base was not timed twice."""

    clock: str  # what was compared: CPU or WALL
    head: np.ndarray  # head / base, one for each block; the geometric mean of both, if base was timed twice
    control: np.ndarray  # base / base


def clock_of(pairs, threads):
    """CPU time if these calls run in one thread that never waits: then it is the time that they would take alone, and other
    processes took the rest of the wall-clock time. Otherwise the wall clock."""
    if threads != 1:
        return WALL
    for pair in pairs:
        known = all(sample.waits >= 0 and sample.cpu_seconds > 0 for sample in pair.samples)
        waiting = sum(sample.waits > 0 for sample in pair.samples)
        if not known or waiting > MOST_WAITING * len(pair.samples):
            return WALL
    return CPU


def seconds_of(sample, clock):
    return sample.cpu_seconds if clock == CPU else sample.seconds


def blocks_of(base, head, control, threads):
    """Blocks of two pairs and, or None, of the control. None if their samples are in too few blocks."""
    sides = [pair for pair in (base, head, control) if pair is not None]
    if len({sample.block for sample in base.samples}) < LEAST_BLOCKS:
        return None
    clock = clock_of(sides, threads)
    # Two bases have half the variance of one: with a head of the same spread, 3/4 of that of the ratio to one of them.
    bases = [base] if control is None else [base, control]
    of_head = _ratios(bases, head, clock)
    of_control = _ratios([base], control, clock) if control is not None else np.array([])
    return Blocks(clock, of_head, of_control) if len(of_head) >= LEAST_BLOCKS else None


def _ratios(bases, other, clock):
    """For each block the median of log(other / base) over its rounds, because one wild round of three changes little; of
    several bases the mean of their medians. The median of the ratios to the mean of the bases would be too small: disturbed
    calls take longer, and the more bases there are, the more often one of them is disturbed."""
    medians = [_medians(base, other, clock) for base in bases]
    blocks = [block for block in medians[0] if all(block in more for more in medians)]
    return np.array([np.mean([of_base[block] for of_base in medians]) for block in blocks])


def _medians(base, other, clock):
    of_base = {sample.round: seconds_of(sample, clock) for sample in base.samples}
    of_block = {}
    for sample in other.samples:
        if sample.round in of_base:
            of_block.setdefault(sample.block, []).append(np.log(seconds_of(sample, clock) / of_base[sample.round]))
    return {block: np.median(logs) for block, logs in of_block.items()}
