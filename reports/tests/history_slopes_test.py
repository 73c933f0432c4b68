# SPDX-License-Identifier: Apache-2.0
"""Slopes of a series: drifts, stairs whose steps are too small to count, slopes beside steps; and a last run that is off."""

import math
import unittest

import numpy as np
from backgauge.history.align import align
from backgauge.history.changes import DRIFT, MACHINE, STEP, analyse


def noise(seed, runs, spread=0.005):
    return np.random.default_rng(seed).normal(0, spread, runs)


def ramp(runs, first, length, size):
    """Logarithms that rise by `size`, a share, in `length` runs."""
    return math.log1p(size) * np.clip((np.arange(runs) - first) / length, 0, 1)


class SlopesTest(unittest.TestCase):
    def kinds(self, values):
        return [change.kind for change in analyse(values).changes]

    def test_ten_percent_in_sixty_nights(self):
        for quiet in (0, 20, 60, 150):
            found = sum(DRIFT in self.kinds(noise(seed, quiet + 60) + ramp(quiet + 60, quiet, 60, 0.1)) for seed in range(40))
            self.assertGreaterEqual(found, 38, quiet)

    def test_its_size_and_where_it_is(self):
        for seed in range(10):
            change, = analyse(noise(seed, 150) + ramp(150, 40, 60, 0.1)).changes
            self.assertEqual(change.kind, DRIFT)
            self.assertAlmostEqual(change.ratio, 1.1, delta=0.02)
            self.assertAlmostEqual(change.first, 40, delta=9)
            self.assertAlmostEqual(change.stop, 100, delta=9)
            self.assertEqual((change.earliest, change.latest), (change.first, change.stop - 1))

    def test_it_got_faster(self):
        change, = analyse(noise(1, 100) - ramp(100, 40, 60, 0.1)).changes
        self.assertLess(change.high, 1)

    def test_steps_below_the_smallest_effect_are_added_up(self):
        for nights, quiet in ((1, 0), (1, 60), (3, 40), (7, 30)):  # of each of 30 commits
            stairs = np.repeat(np.arange(1, 31) * math.log1p(0.007), nights)
            for spread in (0.001, 0.005):
                values = noise(nights, quiet + len(stairs), spread) + np.concatenate([np.zeros(quiet), stairs])
                drifts = [change for change in analyse(values).changes if change.kind == DRIFT]
                total = sum(math.log(change.ratio) for change in drifts)
                self.assertAlmostEqual(math.exp(total), 1.23, delta=0.04, msg=(nights, quiet, spread))

    def test_a_slope_before_a_step_and_after_it(self):
        for seed in range(10):
            slope, step = ramp(160, 20, 60, 0.1), math.log1p(0.06) * (np.arange(160) >= 110)
            found = analyse(noise(seed, 160) + slope + step).changes
            self.assertEqual([change.kind for change in found], [DRIFT, STEP], seed)
            self.assertAlmostEqual(found[1].first, 110, delta=1)
            found = analyse(noise(seed, 160) + ramp(160, 90, 60, 0.1) + math.log1p(0.06) * (np.arange(160) >= 40)).changes
            self.assertEqual([change.kind for change in found], [STEP, DRIFT], seed)
            self.assertAlmostEqual(found[0].first, 40, delta=1)

    def test_a_step_is_no_slope(self):
        for seed in range(40):
            for size in (0.02, 0.05, 0.1):
                for later in (3, 8, 20, 60):
                    values = noise(seed, 60 + later) + math.log1p(size) * (np.arange(60 + later) >= 60)
                    self.assertNotIn(DRIFT, self.kinds(values), (seed, size, later))

    def false_drifts(self, made, runs=(25, 60, 120, 200)):
        return sum(DRIFT in self.kinds(made(np.random.default_rng(seed))[:count]) for seed in range(60) for count in runs)

    def test_noise_is_no_slope(self):
        self.assertEqual(self.false_drifts(lambda random: random.normal(0, 0.005, 200)), 0)
        self.assertEqual(self.false_drifts(lambda random: random.normal(0, 0.005, 200) + 0.06 * (random.random(200) < random.uniform(0.1, 0.5))), 0)
        self.assertEqual(self.false_drifts(lambda random: random.normal(0, 0.005, 200) + 0.3 * (random.random(200) < 0.04)), 0)
        # In 25 nights that are alike, noise may look like a slope.
        alike = [0.6, 0.4, 0.3, 0.2, 0.1]
        self.assertEqual(self.false_drifts(lambda random: np.convolve(random.normal(0, 0.006, 204), alike, "valid"), (60, 120, 200)), 0)

    def test_outliers_hide_no_slope(self):
        for seed in range(10):
            values = noise(seed, 120) + ramp(120, 60, 60, 0.1)
            values[np.random.default_rng(seed).choice(120, 5, replace=False)] += 0.3
            self.assertIn(DRIFT, self.kinds(values), seed)

    def test_none_crosses_machines_that_cannot_be_compared(self):
        for seed in range(10):
            values = noise(seed, 120) + 0.2 * (np.arange(120) >= 60)
            self.assertEqual(analyse(values, breaks=[60]).changes, [])

    def test_a_clock_that_gets_slower_is_no_slow_code(self):
        clock = -ramp(120, 60, 60, 0.1)
        self.assertEqual(align(noise(1, 120) - clock, ["a"] * 120, clock).analysis.changes, [])
        change, = align(noise(1, 120), ["a"] * 120, clock).analysis.changes
        self.assertEqual(change.kind, MACHINE)


class PendingTest(unittest.TestCase):
    def pending(self, values):
        return analyse(values).pending

    def test_the_last_runs_are_off(self):
        for runs in (1, 2):
            values = noise(1, 60)
            values[-runs:] += math.log(1.3)
            found = self.pending(values)
            self.assertEqual(found.runs, runs)
            self.assertAlmostEqual(found.ratio, 1.3, delta=0.02)
            self.assertEqual(analyse(values).changes, [])

    def test_three_of_them_are_a_change(self):
        values = noise(1, 60)
        values[-3:] += math.log(1.3)
        self.assertIsNone(self.pending(values))
        self.assertEqual(len(analyse(values).changes), 1)

    def test_ordinary_runs_are_not_pending(self):
        for seed in range(100):
            self.assertIsNone(self.pending(noise(seed, 60)))
        self.assertIsNone(self.pending(noise(1, 60) + ramp(60, 30, 30, 0.1)), "a drift is decided")
        values = noise(1, 60)
        values[-2] += 0.3
        self.assertIsNone(self.pending(values), "the last one is as before")


if __name__ == "__main__":
    unittest.main()
