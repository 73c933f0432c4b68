# SPDX-License-Identifier: Apache-2.0
"""The estimates by themselves: against values worked out elsewhere, and how often they are wrong on noise."""

import unittest

import numpy as np
from backgauge.compare import statistics
from scipy import stats


class PairedTest(unittest.TestCase):
    def test_agrees_with_students_test_where_nothing_is_trimmed(self):
        # Below five rounds a fifth of them is less than one.
        random = np.random.default_rng(1)
        base, head = np.exp(random.normal(0, 0.1, 4)), np.exp(random.normal(0.1, 0.1, 4))
        estimate = statistics.paired(base, head, 0.05)
        student = stats.ttest_rel(np.log(head), np.log(base))
        interval = student.confidence_interval(0.95)
        self.assertAlmostEqual(estimate.p, student.pvalue, places=12)
        self.assertAlmostEqual(np.log(estimate.low), interval.low, places=12)
        self.assertAlmostEqual(np.log(estimate.high), interval.high, places=12)

    def test_agrees_with_the_trimmed_mean_of_scipy(self):
        random = np.random.default_rng(2)
        base, head = np.exp(random.normal(0, 0.1, 15)), np.exp(random.normal(0.1, 0.1, 15))
        low, high = stats.mstats.trimmed_mean_ci(np.log(head / base), limits=(0.2, 0.2), alpha=0.01)
        estimate = statistics.paired(base, head, 0.01)
        self.assertAlmostEqual(np.log(estimate.ratio), stats.trim_mean(np.log(head / base), 0.2), places=12)
        # Scipy counts degrees of freedom before trimming; with Yuen's there are fewer, and the interval is wider.
        self.assertLess(estimate.low, np.exp(low))
        self.assertGreater(estimate.high, np.exp(high))

    def test_one_wild_round_changes_little(self):
        random = np.random.default_rng(3)
        base = np.exp(random.normal(0, 0.01, 9))
        head = 1.05 * np.exp(random.normal(0, 0.01, 9))
        calm = statistics.paired(base, head, 0.01)
        head[4] *= 5
        wild = statistics.paired(base, head, 0.01)
        self.assertAlmostEqual(calm.ratio, wild.ratio, delta=0.01)
        self.assertLess(wild.p, 1e-3)

    def test_two_rounds_prove_nothing(self):
        estimate = statistics.paired([1, 1], [2, 2], 0.01)
        self.assertEqual((estimate.low, estimate.high, estimate.p), (0, np.inf, 1))

    def test_equal_samples_are_exactly_the_same(self):
        estimate = statistics.paired([1.0] * 9, [1.0] * 9, 0.01)
        self.assertAlmostEqual(estimate.low, 1)
        self.assertEqual((estimate.ratio, estimate.p), (1, 1))

    def test_p_and_interval_say_the_same(self):
        random = np.random.default_rng(4)
        for _ in range(300):
            base, head = np.exp(random.normal(0, 0.1, (2, 9)))
            estimate = statistics.paired(base, head, 0.1)
            self.assertEqual(estimate.p <= 0.1, not estimate.low < 1 < estimate.high)


class UnpairedTest(unittest.TestCase):
    def test_agrees_with_yuens_test_of_scipy(self):
        random = np.random.default_rng(5)
        base, head = np.exp(random.normal(0, 0.1, 9)), np.exp(random.normal(0.1, 0.2, 15))
        estimate = statistics.unpaired(base, head, 0.01)
        yuen = stats.ttest_ind(np.log(head), np.log(base), equal_var=False, trim=statistics.TRIM)
        self.assertAlmostEqual(estimate.p, yuen.pvalue, places=12)
        self.assertEqual(estimate.rounds, 9)

    def test_interval_covers_as_often_as_it_says(self):
        random = np.random.default_rng(6)
        covered = 0
        for _ in range(2000):
            base, head = np.exp(random.standard_t(3, (2, 11)) * 0.01)
            estimate = statistics.unpaired(base, 1.05 * head, 0.05)
            covered += estimate.low <= 1.05 <= estimate.high
        # Binomial of 2000 at 0.95: 1870 lies three deviations below.
        self.assertGreaterEqual(covered, 1870)


class NoiseTest(unittest.TestCase):
    def test_the_paired_test_rejects_noise_as_often_as_it_says(self):
        # Heavy tails, and a drift that both sides share.
        random = np.random.default_rng(6)
        rejected = 0
        for _ in range(4000):
            drift = np.cumsum(random.normal(0, 0.02, 11))
            base, head = np.exp(random.standard_t(3, (2, 11)) * 0.01 + drift)
            rejected += statistics.paired(base, head, 0.01).p <= 0.01
        # 40 expected; 59 is three deviations above.
        self.assertLessEqual(rejected, 59)
        self.assertGreater(rejected, 5)


class HolmTest(unittest.TestCase):
    def test_an_example_by_hand(self):
        np.testing.assert_allclose(statistics.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])

    def test_never_above_one_and_keeps_the_order(self):
        np.testing.assert_allclose(statistics.holm([0.9, 0.5]), [1, 1])
        self.assertEqual(statistics.holm([]).size, 0)


class GeometricMeanTest(unittest.TestCase):
    def test_of_double_and_half(self):
        estimates = [statistics.Estimate(2, 1.6, 2.5, 0, "", 9), statistics.Estimate(0.5, 0.4, 0.625, 0, "", 9)]
        ratio, low, high = statistics.geometric_mean(estimates)
        self.assertAlmostEqual(ratio, 1)
        self.assertAlmostEqual(high, 1.25 ** (1 / np.sqrt(2)))
        self.assertAlmostEqual(low, 1 / high)


if __name__ == "__main__":
    unittest.main()
