# SPDX-License-Identifier: Apache-2.0
"""Ratios of times with their significance. All on logarithms: twice as slow and half as slow are equally far from same.

Each estimate holds the ratio head / base (> 1: head is slower), a two-sided p-value of "the ratio is 1" and an interval.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

# A fifth of the rounds at each end does not count: a busy neighbour reaches 5 to 10 % of the samples of a shared machine,
# and in a ratio of two samples either of them may be hit, on either side.
TRIM = 0.2


@dataclass(frozen=True)
class Estimate:
    ratio: float
    low: float
    high: float
    p: float
    test: str
    rounds: int  # of the side that has fewer

    @property
    def log_error(self):
        """Half the width of the interval's logarithm."""
        return (np.log(self.high) - np.log(self.low)) / 2


def paired(base, head, alpha):
    """Yuen's trimmed t-test on log(head / base) of each round: what a round does to both sides cancels.

    It needs five rounds; its power, unlike that of a signed-rank test, is not capped at 2^(1 - rounds), which after
    Holm's correction over dozens of workloads would need more rounds than anybody waits for.
    """
    logs = np.sort(np.log(np.asarray(head) / np.asarray(base)))
    count = len(logs)
    cut = int(TRIM * count)
    kept = count - 2 * cut
    if kept < 3:
        return Estimate(float(np.exp(np.median(logs))), 0.0, float("inf"), 1.0, "paired trimmed t", count)
    centre = float(np.mean(logs[cut:count - cut]))
    winsorised = np.clip(logs, logs[cut], logs[count - cut - 1])
    error = np.sqrt((count - 1) * np.var(winsorised, ddof=1) / (kept * (kept - 1)))
    # Clocks tick: samples that are all equal know the ratio no better than to the rounding of their logarithms.
    error = max(float(error), float(np.finfo(float).eps))
    reach = float(stats.t.ppf(1 - alpha / 2, kept - 1)) * error
    p = float(2 * stats.t.sf(abs(centre) / error, kept - 1))
    return Estimate(float(np.exp(centre)), float(np.exp(centre - reach)), float(np.exp(centre + reach)), p,
                    "paired trimmed t", count)


def unpaired(base, head, alpha):
    """Mann-Whitney U, with the Hodges-Lehmann ratio: the median of all quotients, and the interval that the test implies."""
    base_logs, head_logs = np.log(np.asarray(base)), np.log(np.asarray(head))
    p = float(stats.mannwhitneyu(head_logs, base_logs, alternative="two-sided").pvalue)
    quotients = np.sort(np.subtract.outer(head_logs, base_logs), axis=None)
    m, n = len(head_logs), len(base_logs)
    centre = float(np.median(quotients))
    deviation = np.sqrt(m * n * (m + n + 1) / 12)
    first = int(np.floor(m * n / 2 - stats.norm.ppf(1 - alpha / 2) * deviation))
    low, high = (quotients[first], quotients[m * n - 1 - first]) if first >= 0 else (-np.inf, np.inf)
    return Estimate(float(np.exp(centre)), float(np.exp(low)), float(np.exp(high)), p, "Mann-Whitney", min(m, n))


def holm(p_values):
    """Adjusted p-values: rejecting those <= alpha keeps the chance of any false rejection <= alpha."""
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def least_p_unpaired(base_rounds, head_rounds):
    """The smallest p-value that so few rounds can give: both orders without overlap, of all orders."""
    return float(2 * np.exp(-_log_binomial(base_rounds + head_rounds, base_rounds)))


def _log_binomial(n, k):
    numbers = np.arange(1, k + 1)
    return float(np.sum(np.log(n - k + numbers) - np.log(numbers)))


def geometric_mean(estimates):
    """(ratio, low, high) of the geometric mean; the errors of workloads are taken as independent."""
    logs = np.array([np.log(estimate.ratio) for estimate in estimates])
    errors = np.array([estimate.log_error for estimate in estimates])
    centre, reach = float(np.mean(logs)), float(np.sqrt(np.sum(errors**2)) / len(logs))
    return tuple(float(np.exp(value)) for value in (centre, centre - reach, centre + reach))
