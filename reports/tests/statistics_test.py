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
        estimates = [statistics.Estimate(ratio, 0, 0, 0, "", 9, 0.1, 8) for ratio in (2, 0.5)]
        mean = statistics.geometric_mean(estimates, 0.05)
        self.assertAlmostEqual(mean.ratio, 1)
        # Two equal errors with 8 degrees of freedom each: 0.1 / sqrt(2) with 16.
        self.assertAlmostEqual(np.log(mean.high), stats.t.ppf(0.975, 16) * 0.1 / np.sqrt(2))
        self.assertAlmostEqual(mean.low, 1 / mean.high)

    def test_of_one_is_that_one(self):
        random = np.random.default_rng(7)
        one = statistics.of_blocks(random.normal(0.02, 0.01, 9), 0.01, "")
        mean = statistics.geometric_mean([one], 0.01)
        for field in ("ratio", "low", "high", "p"):
            self.assertAlmostEqual(getattr(mean, field), getattr(one, field))


class LooksTest(unittest.TestCase):
    def test_however_often_one_looks_a_false_alarm_stays_rare(self):
        # Blocks without any difference, looked at after 8, 12, 18, ... of them, until one look says there is one.
        random = np.random.default_rng(8)
        alarms = 0
        for _ in range(1500):
            logs, blocks = random.normal(0, 0.01, 92), 8
            for look in range(1, 8):
                alarms += (alarm := statistics.of_blocks(logs[:blocks], 0.05, "").p <= statistics.alpha_of_look(0.05, look))
                blocks = min(92, blocks + blocks // 2)
                if alarm:
                    break
        # 75 allowed; 100 is three deviations above. Without the correction it is a multiple.
        self.assertLessEqual(alarms, 100)

    def test_noise_is_what_the_same_code_shows(self):
        random = np.random.default_rng(9)
        self.assertLess(statistics.noise_of(random.normal(0, 0.002, 12)), 0.005)
        self.assertGreater(statistics.noise_of(random.normal(0, 0.2, 12)), 0.05)
        self.assertEqual(statistics.noise_of([0.1, 0.1]), np.inf)


if __name__ == "__main__":
    unittest.main()
