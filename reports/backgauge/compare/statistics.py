# SPDX-License-Identifier: Apache-2.0
"""Ratios of times with their significance. All use logarithms, so that twice and half are equally far from 1.

Each estimate holds the ratio head / base (> 1: head is slower), a two-sided p-value of "the ratio is 1" and an interval.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

# A fifth of the samples at each end is trimmed: other load disturbs 5 to 10 % of the samples of a shared machine, and in
# a ratio of two samples either of them may be disturbed.
TRIM = 0.2
LEAST_ROUNDS = 3  # the spread of fewer is meaningless


@dataclass(frozen=True)
class Estimate:
    ratio: float
    low: float
    high: float
    p: float
    way: str  # what was compared
    rounds: int  # of the side with fewer; or blocks
    error: float = float("nan")  # the standard error of the ratio's logarithm,
    freedom: float = float("nan")  # and its degrees of freedom

    @property
    def reach(self):
        """Half the width of the interval's logarithm."""
        return float(np.log(self.high / self.low)) / 2 if self.low > 0 else float("inf")


def paired(base, head, alpha):
    """Yuen's trimmed t-test on log(head / base) of each round: disturbances that affect both sides of a round cancel.

    Rank tests are capped: of n rounds the signed-rank test can say no less than p = 2^(1 - n), and one wild round costs it
    most of that, so that after Holm's correction over dozens of workloads the rounds that it needs would take too long.
    """
    logs = np.log(np.asarray(head) / np.asarray(base))
    return _estimate([_trimmed(logs)], len(logs), "round by round", alpha)


def of_blocks(logs, alpha, way):
    """Yuen's test on the logarithms of the ratios of blocks."""
    return _estimate([_trimmed(logs)], len(logs), way, alpha)


# The noise of a run is the largest difference that the same code shows with itself, at this confidence.
NOISE_CONFIDENCE = 0.95


def noise_of(logs):
    """`logs`: ratios of the same code, timed twice. The far end of the interval of its ratio, as a share (0.03 is 3 %). inf if
    it is unknown."""
    estimate = of_blocks(logs, 1 - NOISE_CONFIDENCE, "")
    return float(max(estimate.high, 1 / estimate.low if estimate.low > 0 else np.inf) - 1)


def alpha_of_look(alpha, look):
    """The share of alpha that is spent on look 1, 2, 3, ... at data that grow: alpha / (look (look + 1)), whose sum over
    all looks is alpha. After any number of looks, the probability of a false alarm is at most alpha (Bonferroni)."""
    return alpha / (look * (look + 1))


def unpaired(base, head, alpha):
    """Yuen's test for two samples with their own spreads (Welch), on logarithms."""
    base, head = np.asarray(base), np.asarray(head)
    return _estimate([_trimmed(np.log(head)), _trimmed(np.log(base))], min(len(base), len(head)), "run against run", alpha)


@dataclass(frozen=True)
class _Trimmed:
    mean: float
    variance: float  # of the mean
    freedom: float


def _trimmed(values):
    """The trimmed mean and, from the winsorised values, its variance; None for fewer than LEAST_ROUNDS."""
    count = len(values)
    if count < LEAST_ROUNDS:
        return None
    values = np.sort(values)
    cut = int(TRIM * count)
    kept = count - 2 * cut
    winsorised = np.clip(values, values[cut], values[count - cut - 1])
    variance = (count - 1) * np.var(winsorised, ddof=1) / (kept * (kept - 1))
    # Clocks have a resolution: if all samples are equal, their logarithm is known only up to its rounding.
    return _Trimmed(float(np.mean(values[cut:count - cut])), max(float(variance), np.finfo(float).eps**2), kept - 1)


def _estimate(means, rounds, way, alpha):
    """On input the mean of differences, or the means of head and base."""
    if None in means:
        return Estimate(float("nan"), 0.0, float("inf"), 1.0, way, rounds)
    difference = means[0].mean - (means[1].mean if len(means) > 1 else 0.0)
    variance = sum(mean.variance for mean in means)
    freedom = variance**2 / sum(mean.variance**2 / mean.freedom for mean in means)
    error = float(np.sqrt(variance))
    reach = float(stats.t.ppf(1 - alpha / 2, freedom)) * error
    p = float(2 * stats.t.sf(abs(difference) / error, freedom))
    with np.errstate(over="ignore"):  # hardly any evidence: the interval has no end
        ratio, low, high = (float(np.exp(value)) for value in (difference, difference - reach, difference + reach))
    return Estimate(ratio, low, high, p, way, rounds, error, float(freedom))


def holm(p_values):
    """Adjusted p-values: rejecting those <= alpha keeps the chance of any false rejection <= alpha."""
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def geometric_mean(estimates, alpha):
    """The estimate of the geometric mean. Each workload has processes and rounds of its own, so that their errors are
    independent: the variance of the mean of n logarithms is the sum of theirs / n^2, and its degrees of freedom are
    those of Welch and Satterthwaite."""
    count = len(estimates)
    means = [_Trimmed(float(np.log(e.ratio)) / count, (e.error / count)**2, e.freedom) for e in estimates]
    total = _Trimmed(sum(mean.mean for mean in means), sum(mean.variance for mean in means), np.inf)
    freedom = total.variance**2 / sum(mean.variance**2 / mean.freedom for mean in means)
    return _estimate([_Trimmed(total.mean, total.variance, freedom)], min(e.rounds for e in estimates),
                     estimates[0].way, alpha)


def quotient(head, base, alpha):
    """The ratio of two estimates whose ratios have the same base, and which were measured at different times, so that their
    errors are independent."""
    means = [_Trimmed(float(np.log(e.ratio)), e.error**2, e.freedom) for e in (head, base)]
    return _estimate(means, min(head.rounds, base.rounds), "by a common base", alpha)
