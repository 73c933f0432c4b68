# SPDX-License-Identifier: Apache-2.0
"""Change points: what is found, what is not, and how often, on noise that is drawn and on noise that was measured."""

import math
import pathlib
import unittest

import numpy as np
from backgauge.history import proof
from backgauge.history.align import align
from backgauge.history.changes import DRIFT, MACHINE, STEP, Rule, analyse
from backgauge.reading import parse_object

RECORDED = pathlib.Path(__file__).parent / "recorded"


def drawn(seed, runs=100, spread=0.01):
    return np.random.default_rng(seed).normal(0, spread, runs)


def with_step(values, place, size):
    values = values.copy()
    values[place:] += math.log1p(size)
    return values


class AnalyseTest(unittest.TestCase):
    def steps(self, values, **options):
        return [change for change in analyse(values, **options).changes if change.kind == STEP]

    def test_a_step_and_where_it_is(self):
        for seed in range(20):
            change, = self.steps(with_step(drawn(seed), 60, 0.05))
            self.assertLessEqual(abs(change.first - 60), 2)
            self.assertTrue(change.earliest <= 60 <= change.latest, change)
            self.assertTrue(change.low < 1.05 < change.high, change)
            self.assertLess(change.p, 1e-6)

    def test_faster_is_a_change_too(self):
        change, = self.steps(with_step(drawn(1), 60, -0.05))
        self.assertLess(change.high, 1)

    def test_three_runs_are_enough_and_two_are_not(self):
        found = {runs: sum(bool(self.steps(with_step(drawn(seed, 60 + runs, 0.008), 60, 0.05))) for seed in range(40)) for runs in (2, 3)}
        self.assertLessEqual(found[2], 4, "a third run that happens to agree")
        self.assertGreaterEqual(found[3], 38)

    def test_effects_below_the_smallest_are_no_change(self):
        values = with_step(drawn(1, 300, 0.003), 150, 0.015)
        self.assertEqual(self.steps(values), [])
        self.assertEqual(len(self.steps(values, rule=Rule(min_effect=0.01))), 1)

    def test_a_mended_regression_is_two_changes(self):
        up, down = self.steps(with_step(with_step(drawn(1), 40, 0.06), 70, 1 / 1.06 - 1))
        self.assertEqual((up.first, down.first, up.stop), (40, 70, 70))

    def test_single_outliers_are_no_change(self):
        for seed in range(20):
            values = drawn(seed, 200)
            values[np.random.default_rng(seed).choice(200, 8, replace=False)] += 0.3
            self.assertEqual(self.steps(values), [], seed)

    def test_two_modes_are_no_change(self):
        for seed in range(10):
            random = np.random.default_rng(seed)
            for share in (0.15, 0.3, 0.5):
                values = random.normal(0, 0.005, 200) + 0.06 * (random.random(200) < share)
                # Fewer runs would not show that there are two modes.
                for runs in range(50, 201, 15):
                    self.assertEqual(self.steps(values[:runs]), [], (seed, share, runs))

    def test_a_drift_is_one_and_no_step(self):
        for seed in range(10):
            change, = analyse(drawn(seed, 300) + np.linspace(0, math.log(1.06), 300)).changes
            self.assertEqual(change.kind, DRIFT)
            self.assertTrue(change.low < 1.06 < change.high, change)

    def test_noise_with_a_memory(self):
        for seed in range(20):
            values = np.convolve(drawn(seed, 210), [0.6, 0.4, 0.3, 0.2, 0.1], "valid")
            self.assertEqual(self.steps(values), [], seed)

    def test_few_runs_equal_runs_and_breaks(self):
        for runs in range(7):
            analyse(np.zeros(runs))
        self.assertTrue(math.isnan(analyse(np.zeros(5)).noise))
        self.assertEqual(analyse(np.zeros(100)).changes, [])
        change, = self.steps(with_step(np.zeros(100), 50, 0.1))
        self.assertEqual(change.first, 50)
        for place in range(1, 100):
            self.assertEqual(self.steps(with_step(drawn(place), place, 0.1), breaks=[place]), [])


class AlignTest(unittest.TestCase):
    def test_one_change_of_machine_is_no_change_of_the_code(self):
        for seed in range(10):
            values = with_step(drawn(seed), 50, 0.3)
            machines = ["old"] * 50 + ["new"] * 50
            rates = np.where(np.arange(100) < 50, 0.0, -math.log(1.2))
            found = align(values, machines, rates)
            self.assertEqual(found.analysis.changes, [], seed)
            switch, = found.switches
            self.assertEqual((switch.first, switch.is_known), (50, False))
            self.assertAlmostEqual(switch.factor, 1.3, delta=0.03)
            self.assertAlmostEqual(switch.by_probe, 1.2)

    def test_a_pool_of_machines_shows_the_step_between_them(self):
        for seed in range(10):
            machines = list(np.random.default_rng(seed).choice(["a", "b", "c"], 100))
            speed = {"a": 0.0, "b": 0.2, "c": -0.3}
            values = with_step(drawn(seed), 70, 0.05) + [speed[machine] for machine in machines]
            found = align(values, machines, np.full(100, np.nan))
            change, = found.analysis.changes
            self.assertLessEqual(abs(change.first - 70), 2)
            self.assertTrue(all(switch.is_known for switch in found.switches))

    def test_a_slow_clock_is_not_slow_code(self):
        clock = np.where(np.arange(100) < 60, 0.0, -math.log(1.08))
        self.assertEqual(align(drawn(1) - clock, ["a"] * 100, clock).analysis.changes, [])
        change, = align(drawn(1), ["a"] * 100, clock).analysis.changes
        self.assertEqual(change.kind, MACHINE)


class ProofTest(unittest.TestCase):
    """A small part of what `python3 -m backgauge.history.proof` measures."""

    def test_steps_are_found_and_nothing_else(self):
        recorded = parse_object((RECORDED / "nights" / "with_priority.json").read_text())
        random = np.random.default_rng(5)
        noises = proof.noise_of(recorded, "cpu_seconds")
        made = [series for _ in range(2) for series in proof.year(noises, random)[::2]]
        in_time, at_all, wrong = proof.judged(made, proof.backgauge_engine(Rule()))
        counts = {size: sum(size in series.steps.values() for series in made) for size in proof.STEPS}
        self.assertEqual(wrong.total(), 0, wrong)
        for size in (0.05, 0.10):
            self.assertGreaterEqual(in_time[size], 0.85 * counts[size], size)
            self.assertEqual(at_all[size], counts[size], size)

    def test_an_engine_that_invents_changes_is_counted(self):
        steady = [proof.Year(drawn(1, proof.DAYS), ["a"] * proof.DAYS, np.zeros(proof.DAYS), {100: 0.05}, "5 %")]
        *_, wrong = proof.judged(steady, lambda series, day: [(STEP, first, first, first) for first in (50, 51, 200, 101)])
        self.assertEqual(wrong, {"5 %": 2})
        *_, wrong = proof.judged(steady, lambda series, day: [(DRIFT, 90, 90, 110)])
        self.assertEqual(wrong, {"5 %": 1}, "a drift in a series that has none")
        in_time, at_all, _ = proof.judged(steady, lambda series, day: [(STEP, 100, 100, 100)] if day >= 104 else [])
        self.assertEqual((in_time[0.05], at_all[0.05]), (0, 1))


if __name__ == "__main__":
    unittest.main()
