# SPDX-License-Identifier: Apache-2.0
"""`backgauge history check`: what is new, which commits are blamed, and the exit code of a nightly job."""

import json
import pathlib
import sys
import unittest
import unittest.mock

from backgauge import errors
from backgauge.history import proof
from history_runs import LINES, HistoryCase, commit_id

RUNS = 50


class CheckTest(HistoryCase):
    def fill(self, slower, runs=RUNS, **options):
        """`slower`: k -> factor of the first workload in run k."""
        for k in range(runs):
            self.add(k, slower={("cpu", LINES[0]): slower(k)}, **{name: of(k) for name, of in options.items()})

    def check(self, code, *options):
        return self.expect(code, "check", f"--history={self.history}", *options)

    def test_a_new_regression_is_red_and_names_its_commits(self):
        self.fill(lambda k: 1.06 if k >= 46 else 1.0)
        text = self.check(errors.SLOWER)
        self.assertRegex(text, r"\nSLOWER +BlockLSTMGradV2 T25 B16 I512 H512 f32 +cpu +\+[567]\.\d %")
        found, = json.loads(self.check(errors.SLOWER, "--format=json"))["changes"]
        self.assertEqual((found["verdict"], found["workload"], found["is_new"]), ("SLOWER", LINES[0], True))
        self.assertEqual((found["last_good"], found["first_bad"]), (commit_id(45), commit_id(46)))
        self.assertTrue(found["low"] < 1.06 < found["high"])

    def test_an_old_regression_is_not_new(self):
        self.fill(lambda k: 1.06 if k >= 36 else 1.0)
        self.assertNotIn("SLOWER", self.check(errors.GOOD).split("summary")[0])
        self.assertIn("SLOWER (earlier)", self.check(errors.GOOD, "--all"))
        self.assertIn("SLOWER  ", self.check(errors.SLOWER, "--days=20"))

    def test_faster_is_green(self):
        self.fill(lambda k: 0.94 if k >= 46 else 1.0)
        self.assertIn("FASTER", self.check(errors.GOOD))

    def test_the_same_code_is_green(self):
        self.fill(lambda k: 1.0)
        self.assertIn("nothing changed", self.check(errors.GOOD, "--strict"))

    def test_a_mended_regression_is_not_red(self):
        self.fill(lambda k: 1.06 if 30 <= k < 46 else 1.0)
        text = self.check(errors.GOOD)
        self.assertIn("FASTER", text)
        self.assertIn("mended since", self.check(errors.GOOD, "--days=30"))

    def test_a_drift_is_red_as_long_as_it_goes_on_and_until_it_is_mended(self):
        self.fill(lambda k: 1 + 0.1 * max(k - 10, 0) / 40)
        text = self.check(errors.SLOWER)
        self.assertRegex(text, r"SLOWER .* cpu .*slow drift over \d+ runs, no step")
        for k in range(RUNS, RUNS + 4):
            self.add(k, slower={("cpu", LINES[0]): 1.0})
        self.assertRegex(self.check(errors.GOOD), "SLOWER .*mended since")

    def test_a_last_run_that_is_off_is_pending(self):
        self.fill(lambda k: 1.3 if k == RUNS - 1 else 1.0)
        text = self.check(errors.GOOD)
        self.assertRegex(text, r"pending: BlockLSTMGradV2 T25 B16 I512 H512 f32 of cpu: the last run is off by \+(29|30|31)\.\d %; it takes 3 runs that agree to call it a change")
        self.check(errors.INCONCLUSIVE, "--strict")
        first, second = json.loads(self.check(errors.GOOD, "--format=json"))["series"]
        self.assertEqual(first["pending"]["runs"], 1)
        self.assertIsNone(second["pending"])

    def test_a_workload_that_fails_in_its_last_run_is_red(self):
        self.fill(lambda k: 1.0, runs=8, failed=lambda k: {("cpu", LINES[1]): ("FAILED", "wrong")} if k in (3, 7) else {})
        self.assertRegex(self.check(errors.FAILED), "no time: .* of cpu at 00000007.*: FAILED wrong")

    def test_another_machine_is_no_regression_and_is_said(self):
        self.fill(lambda k: 1.0, context=lambda k: {"machine_id": "one" if k < 40 else "two"}, speed=lambda k: 1.0 if k < 40 else 0.8)
        text = self.check(errors.GOOD)
        self.assertIn("in 2 series the machine changed once", text)
        self.assertIn("at 0000002800: machine: one -> two", text)

    def test_a_slow_down_with_another_compiler_or_host_is_not_blamed_on_the_code(self):
        for key, values in {"compiler": ("gcc 12", "gcc 13"), "gpu_driver": ("570", "580"), "kernel": ("6.1", "6.12")}.items():
            self.history = self.folder / key
            self.fill(lambda k: 1.1 if k >= 46 else 1.0, context=lambda k, key=key, values=values: {key: values[k >= 46]})
            self.assertRegex(self.check(errors.GOOD), rf"at 0000002e00: [^:]*: {values[0]} -> {values[1]}\n")

    def test_short_and_noisy_series(self):
        self.fill(lambda k: 1.0, runs=4)
        self.assertIn("2 of 2 series are too short", self.check(errors.GOOD))
        self.check(errors.INCONCLUSIVE, "--strict")

    def test_noise_is_said(self):
        from synthetic import Noise
        self.fill(lambda k: 1.0, noise=lambda k: Noise(spread=0.1, offset=0.08))
        self.assertIn("too noisy to show a step of 5 %", self.check(errors.GOOD))
        self.check(errors.INCONCLUSIVE, "--strict")

    def test_bad_options(self):
        self.add(0)
        for option in ("--min-effect=0", "--min-effect=x", "--false-alarms=0", "--false-alarms=2", "--days=0", "--days=nan", "--noisy=200%",
                       "--format=html", "--unknown"):
            self.assertIn("history", self.check(errors.USAGE, option))

    def test_without_ruptures_one_line_says_how_to_get_it(self):
        self.fill(lambda k: 1.0, runs=7)
        with unittest.mock.patch.dict(sys.modules, ruptures=None):
            text = self.check(errors.NOT_LOADED)
        self.assertIn("history check needs ruptures", text)
        self.assertIn("pip install 'backgauge[history]'", text)
        self.assertNotIn("\n", text)


class ProofCommandTest(unittest.TestCase):
    def test_it_says_what_is_measured_and_what_is_simulated(self):
        recorded = json.loads((pathlib.Path(__file__).parent / "recorded" / "nights" / "with_priority.json").read_text())
        noises = proof.noise_of(recorded, "cpu_seconds")
        text = proof.describe(recorded, noises, unittest.mock.Mock(clock="cpu"))
        self.assertIn("20 runs of 11 rounds, AMD EPYC, real-time priority beside builds on both cores, cpu clock", text)
        self.assertIn("simulated: years of 365 runs of 40 workloads", text)


if __name__ == "__main__":
    unittest.main()
