# SPDX-License-Identifier: Apache-2.0
"""Changes of one series: slopes (slopes.py), and steps in what is left. ruptures proposes steps; a test with a budget of false
alarms decides.

Values are logarithms of times, one for each run, in the order of the commits. proof.py measures how often this is wrong.
"""

import math
from dataclasses import dataclass

import numpy as np

from .needs import library
from .slopes import FENCES, slopes_of, without

# Two runs may share what disturbed them (a busy evening); three levels that agree are the fewest with a spread of their own.
SHORTEST = 3
_NIGHTS = 365.25 / 12  # runs of a series in a month, of a nightly job
# A run in five of a new level may look like the old one: compare trims as much of each end (compare/statistics.py).
_EXCEPTIONS = 0.2
# A level that lasts longer than ten runs, two weeks of working days, is not an excursion from another one. A regression that is
# mended sooner counts as noise of the series.
_LONGEST_EXCURSION = 10
# Places of a change whose likelihood is within this factor of the best one are named together.
_LIKELIHOOD = 20.0
_CONFIDENCE = 0.99  # of intervals, as in compare

STEP, DRIFT, MACHINE = "step", "drift", "machine"


@dataclass(frozen=True)
class Rule:
    # Below 2 % of A/A noise bench does not call a run noisy; smaller changes are not worth a night's alarm.
    min_effect: float = 0.02
    false_per_series_month: float = 1e-3

    @property
    def alpha(self):
        """The accepted probability of a false change for each run that is added to a series."""
        return self.false_per_series_month / _NIGHTS


@dataclass(frozen=True)
class Change:
    kind: str
    first: int  # the first run of the new level; of a drift, the first run of it
    earliest: int  # the first run may as well be any from here
    latest: int  # to here; of a drift, its last run, because each made a part of it
    stop: int  # the run after the last one of the new level
    ratio: float  # times after / before; of a drift, at its end / at its beginning
    low: float
    high: float
    p: float  # of "nothing changed", corrected for all places at which this change could have been seen


@dataclass(frozen=True)
class Pending:
    """The last runs are off, and too few to tell a change from chance."""

    runs: int
    ratio: float  # their times / those before


@dataclass(frozen=True)
class Analysis:
    changes: list[Change]
    bounds: list[int]  # of the levels: 0, the first run of each later level, the number of runs
    fit: np.ndarray  # the values without noise: levels and slopes
    noise: float  # standard deviation of a run, as a share; nan with too few runs
    sensitivity: float  # the smallest step that three more runs would show in 19 cases of 20; nan with too few
    pending: Pending | None = None


def analyse(values, rule=Rule(), breaks=()):
    """`breaks`: first runs of stretches whose levels are not comparable; a break does not count as a change."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2 * SHORTEST:
        level = np.full(len(values), np.median(values) if len(values) else 0.0)
        return Analysis([], [0, len(values)], level, float("nan"), float("nan"))
    slopes = slopes_of(values, breaks, rule)
    levels = without(values, slopes)
    bounds = _confirmed(levels, breaks, rule)
    fit = _Fit(levels, bounds)
    changes = [_change(fit, k) for k in range(1, len(bounds) - 1) if bounds[k] not in breaks]
    changes += [_drift(slope) for slope in slopes]
    fitted = values - levels + fit.levels
    return Analysis(sorted(changes, key=lambda change: change.first), bounds, fitted, math.expm1(fit.deviation),
                    math.expm1(fit.sensitivity(rule)), _pending(values - fitted, fit, rule))


def proposals(values):
    """The first runs of new levels: optimal partitioning (ruptures) by squared errors, with the penalty of the Bayesian
    information criterion, 2 ln n variances. Whatever the test below accepts gains more: its t is above 5 for any
    n, a gain of 25 variances. A median of three runs takes single outliers away and leaves steps where they are."""
    smooth = library("scipy.signal", "check").medfilt(values, 3)
    smooth[[0, -1]] = values[[0, -1]]
    variance = max(_deviation_of_differences(values), np.finfo(float).eps) ** 2
    found = library("ruptures", "check").KernelCPD(kernel="linear", min_size=SHORTEST).fit(smooth[:, None])
    return found.predict(pen=2 * math.log(len(values)) * variance)[:-1]


def _deviation_of_differences(values):
    """The spread of a run from differences of successive runs, in which a level does not appear. 1.4826 is what makes the
    median deviation that of a normal distribution."""
    return 1.4826 * float(np.median(np.abs(np.diff(values)))) / math.sqrt(2)


def _confirmed(values, breaks, rule):
    """The breaks, and bounds of which each passes the test; the least likely one goes first, and the rest is tested again."""
    fixed = [0, *breaks, len(values)]
    proposed = [place for place in proposals(values) if all(abs(place - other) >= SHORTEST for other in fixed)]
    bounds = _sharpened(values, sorted({*fixed, *proposed}), fixed)
    excursions = values - library("scipy.ndimage", "check").median_filter(values, _LONGEST_EXCURSION * 2 + 1, mode="reflect")
    while True:
        fit = _Fit(values, bounds, excursions)
        p_values = {bound: fit.p(k, rule) for k, bound in enumerate(bounds) if bound not in fixed}
        if not p_values or max(p_values.values()) <= rule.alpha:
            return bounds
        bounds.remove(max(p_values, key=p_values.get))


def _sharpened(values, bounds, fixed):
    """The median of three may move a bound by a run or two."""
    bounds = list(bounds)
    for k in range(1, len(bounds) - 1):
        start, stop = bounds[k - 1], bounds[k + 1]
        near = [place for place in range(bounds[k] - 2, bounds[k] + 3) if start + SHORTEST <= place <= stop - SHORTEST]
        if bounds[k] not in fixed and near:
            errors = _errors_of_splits(values[start:stop])
            bounds[k] = min(near, key=lambda place: errors[place - start])
    return bounds


def _errors_of_splits(values):
    """Sum of squared errors about two levels, for each first run of the second; infinite for 0."""
    counts = np.arange(1, len(values))
    sums, squares = np.cumsum(values)[:-1], np.sum(values**2)
    total = np.sum(values)
    errors = squares - sums**2 / counts - (total - sums) ** 2 / (len(values) - counts)
    return np.concatenate([[np.inf], errors])


class _Fit:
    """Levels between bounds, and the noise around them."""

    def __init__(self, values, bounds, excursions=None):
        """`excursions`: distances of the runs from their surroundings; p() needs them."""
        self.bounds, self.values, self.excursions = bounds, values, excursions
        medians = np.concatenate([np.full(b - a, np.median(values[a:b])) for a, b in zip(bounds, bounds[1:])])
        self.deviations = values - medians
        low, high = np.percentile(self.deviations, [25, 75])
        reach = FENCES * max(high - low, np.finfo(float).eps)
        self.fences = low - reach, high + reach
        self.clipped = medians + np.clip(self.deviations, *self.fences)
        self.levels = np.concatenate([np.full(b - a, np.mean(self.clipped[a:b])) for a, b in zip(bounds, bounds[1:])])
        residuals = self.clipped - self.levels
        self.freedom = len(values) - (len(bounds) - 1)
        variance = max(float(np.sum(residuals**2)) / self.freedom, np.finfo(float).eps ** 2)
        self.deviation = math.sqrt(variance)
        # Successive nights are alike: with correlation r the mean of n runs varies as that of n (1 - r) / (1 + r).
        memory = float(np.sum(residuals[1:] * residuals[:-1]) / max(np.sum(residuals**2), np.finfo(float).tiny))
        memory = min(max(memory, 0.0), 0.9)
        self.inflated = self.deviation * math.sqrt((1 + memory) / (1 - memory))

    def sides(self, k):
        start, middle, stop = self.bounds[k - 1:k + 2]
        return self.clipped[start:middle], self.clipped[middle:stop]

    def step(self, k):
        """(difference of the levels at bound k, its standard error)."""
        before, after = self.sides(k)
        return float(np.mean(after) - np.mean(before)), self.inflated * math.sqrt(1 / len(before) + 1 / len(after))

    def p(self, k, rule):
        """The p-value of the step at bound k; 1 if there is no step."""
        before, after = self.sides(k)
        step, error = self.step(k)
        if math.expm1(abs(step)) < rule.min_effect or self._is_slope(k) or not self._is_new(k, rule):
            return 1.0
        # Every split of these runs could have been taken for a change: the sum over all bounds the chance of any.
        places = max(len(before) + len(after) - 2 * SHORTEST + 1, 1)
        return min(1.0, places * _two_sided(step / error, self.freedom))

    def _is_slope(self, k):
        """Whether a straight line fits the runs of both sides better than a step; both have two parameters."""
        both = np.concatenate(self.sides(k))
        places = np.arange(len(both)) - (len(both) - 1) / 2
        slope = float(np.sum(places * both) / np.sum(places**2))
        line = np.sum((both - np.mean(both) - slope * places) ** 2)
        return line <= _errors_of_splits(both)[self.bounds[k] - self.bounds[k - 1]]

    def _is_new(self, k, rule):
        """Whether the runs of the shorter side are too many for chance. A series with two modes, or with outliers in some
        nights, draws a few of them in succession sooner or later; the other runs of the series say how often. m of
        them cannot show a share below 1 / m: with 32, three runs in a row are beyond chance, with 10 it takes five."""
        start, middle, stop = self.bounds[k - 1:k + 2]
        after_is_short = stop - middle <= middle - start
        short, level = (slice(middle, stop), slice(start, middle)) if after_is_short else (slice(start, middle), slice(middle, stop))
        away = self.values[short] - np.median(self.values[level])
        sign = 1.0 if np.median(away) > 0 else -1.0
        needed = len(away) - int(_EXCEPTIONS * len(away))
        least = np.sort(sign * away)[-needed]
        others = np.concatenate([self.excursions[:short.start], self.excursions[short.stop:]])
        share = max(int(np.sum(sign * others >= least)), 1) / len(others)
        return float(library("scipy.special", "check").bdtrc(needed - 1, len(away), share)) <= rule.alpha

    def sensitivity(self, rule):
        last = self.bounds[-1] - self.bounds[-2]
        limit = _quantile(1 - rule.alpha / 2 / max(last - SHORTEST + 1, 1), self.freedom) + _quantile(0.95, self.freedom)
        return max(limit * self.inflated * math.sqrt(1 / SHORTEST + 1 / last), math.log1p(rule.min_effect))


def _two_sided(t, freedom):
    return 2 * float(library("scipy.special", "check").stdtr(freedom, -abs(t)))


def _quantile(share, freedom):
    return float(library("scipy.special", "check").stdtrit(freedom, share))


def _change(fit, k):
    start, first, stop = fit.bounds[k - 1:k + 2]
    step, error = fit.step(k)
    reach = _quantile((1 + _CONFIDENCE) / 2, fit.freedom) * error
    errors = _errors_of_splits(np.concatenate(fit.sides(k)))
    likely = start + np.flatnonzero(errors <= errors[first - start] + 2 * math.log(_LIKELIHOOD) * fit.inflated**2)
    places = max(stop - start - 2 * SHORTEST + 1, 1)
    p = min(1.0, places * _two_sided(step / error, fit.freedom))
    return Change(STEP, first, int(min(likely[0], first)), int(max(likely[-1], first)), stop, math.exp(step), math.exp(step - reach),
                  math.exp(step + reach), p)


def _drift(slope):
    reach = _quantile((1 + _CONFIDENCE) / 2, slope.freedom) * slope.error
    return Change(DRIFT, slope.first, slope.first, slope.stop - 1, slope.stop, math.exp(slope.total), math.exp(slope.total - reach),
                  math.exp(slope.total + reach), slope.p)


def _pending(residuals, fit, rule):
    """The runs at the end, all on one side, that are too far off for noise and for an effect that does not count."""
    sign = math.copysign(1.0, residuals[-1])
    least = max(math.log1p(rule.min_effect), fit.fences[1] if sign > 0 else -fit.fences[0])
    runs = 0
    while runs < min(_LONGEST_EXCURSION, len(residuals)) and sign * residuals[-1 - runs] >= least:
        runs += 1
    return Pending(runs, math.exp(float(np.median(residuals[-runs:])))) if runs else None
