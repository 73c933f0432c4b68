# SPDX-License-Identifier: Apache-2.0
"""Slopes of one series: drifts, and creep in steps that are too small to count one by one.

The noise is that of residuals about a fit that has the slopes in it, and of second differences. Residuals about levels alone
would grow with the slope itself, so that no slope could be significant.
"""

import math
from dataclasses import dataclass

import numpy as np

from .needs import library

# Tukey's fences for values that are far out: of a normal distribution, 2 values in a million lie beyond.
FENCES = 3.0
# Medians of three successive runs: one bad night moves none of them, and a slope is much longer than three runs.
_BLOCK = 3
# The variance of the median of three values of a normal distribution, times three, in units of theirs.
_MEDIAN_OF_THREE = 1.346
# Runs about each one from which an outlier is told: three bad nights in a week are outliers, four are not.
_WEEK = 7
# Two weeks of nights. In noise with a memory, fewer blocks in a row are soon near a line by chance.
_SHORTEST = 5
# A slope is believed if it is so much more likely than steps that would count by themselves.
_LIKELIHOOD = 1000.0
_MOST_MEMORY = 0.9  # correlation of successive runs; noise with more of it cannot be distinguished from a drift


@dataclass(frozen=True)
class Slope:
    first: int  # the first run of the slope
    stop: int  # the run after the last one
    total: float  # logarithm of the time at its end / at its beginning
    error: float  # standard error of the total
    freedom: int  # of the error
    p: float  # of "no slope", corrected for all places at which one could have been seen


@dataclass(frozen=True)
class Part:
    """A stretch of values that are near a level, or near a line."""

    start: int
    stop: int
    is_slope: bool

    def fit(self, values):
        values = values[self.start:self.stop]
        level = np.full(len(values), np.mean(values))
        if not self.is_slope:
            return level
        places = np.arange(len(values)) - (len(values) - 1) / 2
        return level + places * np.sum(places * values) / np.sum(places**2)


def slopes_of(values, breaks, rule):
    """Slopes that amount to an effect and are significant, in order. None crosses a break."""
    values = _without_outliers(values)
    return [slope for start, stop in zip([0, *breaks], [*breaks, len(values)])
            for slope in _in_stretch(values[start:stop], start, rule)]


def without(values, slopes):
    """The values as they were without the slopes: what a slope added is taken away from it and from all that follows."""
    values = np.array(values, dtype=float)
    for slope in slopes:
        values[slope.first:slope.stop] -= np.linspace(0, slope.total, slope.stop - slope.first)
        values[slope.stop:] -= slope.total
    return values


def _without_outliers(values):
    """At the ends the runs are mirrored, so that the last one is not counted twice."""
    usual = library("scipy.ndimage", "check").median_filter(values, _WEEK, mode="mirror")
    return usual + np.clip(values - usual, *_fences(values - usual))


def _fences(deviations):
    low, high = np.percentile(deviations, [25, 75])
    reach = FENCES * max(high - low, np.finfo(float).eps)
    return low - reach, high + reach


def _in_stretch(values, begin, rule):
    """Slopes at the resolution of the noise, or at half the smallest effect if those explain more. Half an effect hides no step
    that counts, and adds up those that do not."""
    skipped = len(values) % _BLOCK  # the last runs are the ones that matter
    values = values[skipped:]
    medians = np.median(values.reshape(-1, _BLOCK), axis=1)
    if len(medians) < _SHORTEST:
        return []
    partition = _Partition(medians - np.mean(medians))
    deviation, effect = _deviation_of_blocks(values, medians), math.log1p(rule.min_effect)

    def at(resolution):
        parts = partition.of(0, len(medians), resolution)
        likely = [k for k, part in enumerate(parts) if part.is_slope and _is_likely(partition, parts, k, resolution, deviation, effect)]
        in_runs = [Part(_BLOCK * part.start, _BLOCK * part.stop, part.is_slope) for part in parts]
        return _significant(values, in_runs, likely, deviation, begin + skipped, rule) if likely else []

    fine, coarse = at(deviation), at(max(deviation, effect / 2))
    return coarse if _explained(coarse) >= _explained(fine) + effect else fine


def _explained(slopes):
    return sum(abs(slope.total) for slope in slopes)


def _deviation_of_blocks(values, medians):
    """By second differences, in which neither a level nor a slope appears (the Hadamard deviation of clocks): of the runs, and of means of 1, 2
    and 4 blocks, which are larger if successive runs are alike."""
    deviations = [_spread(np.diff(values, 2)) * math.sqrt(_MEDIAN_OF_THREE / _BLOCK)]
    for length in (1, 2, 4):
        # A step, or an end of a slope, is in 3 * length differences: two of them, in fewer than half.
        if len(medians) >= 15 * length:
            means = np.convolve(medians, np.full(length, 1 / length), "valid")
            second = means[2 * length:] - 2 * means[length:-length] + means[:-2 * length]
            deviations.append(_spread(second) * math.sqrt(length))
    return max(*deviations, np.finfo(float).eps)


def _spread(second_differences):
    """By their lower quartile, because steps and ends of slopes make some of them large. 0.3186 is that of a normal distribution's
    absolute values; a second difference has six times the variance of a value."""
    return float(np.percentile(np.abs(second_differences), 25)) / 0.3186 / math.sqrt(6)


def _is_likely(partition, parts, k, resolution, deviation, effect):
    """Whether the slope explains its part and those next to it better than one step of any size, and better than steps that count."""
    begin, end = parts[max(k - 1, 0)].start, parts[min(k + 1, len(parts) - 1)].stop
    margin = 2 * math.log(_LIKELIHOOD)
    if partition.cost(begin, end, deviation) + margin > partition.cost_of_a_step(begin, end, deviation):
        return False
    levels = [np.mean(partition.values[part.start:part.stop]) for part in partition.of(begin, end, deviation, False)]
    if np.max(np.abs(np.diff(levels)), initial=0.0) < effect:
        return True
    return partition.cost(begin, end, resolution) + margin <= partition.cost(begin, end, resolution, False)


def _significant(values, parts, likely, of_blocks, begin, rule):
    """Those of the likely parts whose slope is significant in the runs themselves. `of_blocks`: the deviation of a block."""
    fit = np.concatenate([part.fit(values) for part in parts])
    residuals = np.clip(values - fit, *_fences(values - fit))
    freedom = max(len(values) - sum(3 if part.is_slope else 2 for part in parts), 1)
    error = max(_error_of_a_run(residuals, freedom, len(parts)), of_blocks * math.sqrt(_BLOCK / _MEDIAN_OF_THREE))
    found = []
    for part in (parts[k] for k in likely):
        line = part.fit(fit + residuals)
        total, of_total = float(line[-1] - line[0]), error * math.sqrt(12 / len(line))
        # Every pair of blocks could have been the ends.
        places = (len(values) / _BLOCK) ** 2 / 2
        p = min(1.0, places * 2 * float(library("scipy.special", "check").stdtr(freedom, -abs(total / of_total))))
        if math.expm1(abs(total)) >= rule.min_effect and p <= rule.alpha:
            found.append(Slope(begin + part.start, begin + part.stop, total, of_total, freedom, p))
    return found


def _error_of_a_run(residuals, freedom, parts):
    """The deviation that makes the error of a mean right: with correlation r, the mean of n runs varies as that of
    n (1 - r) / (1 + r). Residuals are less alike than the noise, by (1 + 3 r) / n for each part that was fitted (Kendall);
    r may be as large as its standard error leaves it, because a short series knows it badly."""
    squares = max(float(np.sum(residuals**2)), np.finfo(float).tiny)
    alike = float(np.sum(residuals[1:] * residuals[:-1])) / squares
    alike += (1 + 3 * max(alike, 0.0)) * parts / len(residuals) + 1 / math.sqrt(len(residuals))
    alike = min(max(alike, 0.0), _MOST_MEMORY)
    deviation = max(math.sqrt(squares / freedom), np.finfo(float).eps)
    return deviation * math.sqrt((1 + alike) / (1 - alike))


class _Partition:
    """Optimal partitioning into levels and lines. ruptures has no cost that chooses between the two, and its cost of a
    line takes a second for a year."""

    def __init__(self, values):
        self.values = values
        self.levels, self.lines = _errors_of_stretches(values)
        self.parameter = math.log(_BLOCK * len(values))

    def of(self, begin, end, resolution, with_slopes=True):
        """The parts between two values with the least cost: squared errors in units of the resolution, and for each part 2 ln n
        for its place and level, 3 ln n with a slope (the Bayesian information criterion)."""
        return self._best(begin, end, resolution, with_slopes)[1]

    def cost(self, begin, end, resolution, with_slopes=True):
        return self._best(begin, end, resolution, with_slopes)[0]

    def cost_of_a_step(self, begin, end, resolution):
        places = np.arange(begin + 1, end)
        return float(np.min(self.levels[places, begin] + self.levels[end, places])) / resolution**2 + 4 * self.parameter

    def _best(self, begin, end, resolution, with_slopes):
        costs = self.levels / resolution**2 + 2 * self.parameter
        if with_slopes:
            lines = self.lines / resolution**2 + 3 * self.parameter
            are_lines = lines < costs
            costs = np.where(are_lines, lines, costs)
        best, via = np.zeros(end - begin + 1), [0]  # up to each value: the least cost, and where the last part starts
        for stop in range(begin + 1, end + 1):
            sums = best[:stop - begin] + costs[stop, begin:stop]
            at = int(sums.argmin())
            best[stop - begin] = sums[at]
            via.append(begin + at)
        parts, stop = [], end
        while stop > begin:
            start = via[stop - begin]
            parts.append(Part(start, stop, with_slopes and bool(are_lines[stop, start])))
            stop = start
        return float(best[-1]), parts[::-1]


def _errors_of_stretches(values):
    """Sums of squared errors about the level and about the line of each stretch, [stop, start]; about a line infinite if it is too short."""
    places = np.arange(len(values))
    sums, squares, moments = (np.concatenate([[0.0], np.cumsum(each)]) for each in (values, values**2, places * values))
    ends = np.arange(len(values) + 1)
    count = np.maximum(ends[:, None] - ends, 1)
    total = sums[:, None] - sums
    moment = moments[:, None] - moments - (ends[:, None] + ends - 1) / 2 * total
    levels = squares[:, None] - squares - total**2 / count
    return levels, np.where(count >= _SHORTEST, levels - moment**2 / np.maximum(count * (count**2 - 1) / 12, 1), np.inf)
