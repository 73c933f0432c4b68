# SPDX-License-Identifier: Apache-2.0
"""The rule: every verdict is reached, none without evidence, and each says why."""

import unittest
from dataclasses import replace

from backgauge.compare.statistics import Estimate
from backgauge.compare.verdict import FASTER, SAME, SLOWER, UNCLEAR, Row, Rule, decide

RULE = Rule(min_effect=0.03, alpha=0.01)


def row(*estimates, p=1e-4, effect=0.03):
    made = tuple(Estimate(ratio, low, high, p, "round by round", 9) for ratio, low, high in estimates)
    return Row("op b1i1h1", made, adjusted=tuple(p for _ in made), effect=effect)


class VerdictTest(unittest.TestCase):
    def expect(self, verdict, reason, given):
        got = decide(given, RULE)
        self.assertEqual(got.verdict, verdict, got.reason)
        self.assertIn(reason, got.reason)

    def test_starts_at_unclear(self):
        self.assertEqual(Row("op b1i1h1").verdict, UNCLEAR)

    def test_slower_and_faster_need_effect_and_significance(self):
        self.expect(SLOWER, "significant", row((1.05, 1.04, 1.06)))
        self.expect(FASTER, "significant", row((0.95, 0.94, 0.96)))
        self.expect(UNCLEAR, "not significant", row((1.05, 0.99, 1.11), p=0.02))
        self.expect(UNCLEAR, "not significant", row((0.95, 0.89, 1.01), p=0.02))
        self.expect(UNCLEAR, "reaches beyond", row((1.029, 1.02, 1.04)))

    def test_effects_are_equal_both_ways(self):
        self.expect(SLOWER, "", row((1.03, 1.02, 1.04)))
        self.expect(FASTER, "", row((1 / 1.03, 1 / 1.04, 1 / 1.02)))
        self.expect(UNCLEAR, "", row((0.972, 0.96, 0.98)))

    def test_same_needs_the_whole_interval_inside(self):
        self.expect(SAME, "within 3 %", row((1.01, 1.001, 1.02)))
        self.expect(SAME, "within 3 %", row((1.0, 0.98, 1.02), p=1.0))
        self.expect(UNCLEAR, "reaches beyond", row((1.0, 0.96, 1.04), p=1.0))

    def test_more_noise_asks_for_more_effect_and_is_named(self):
        noisy = replace(row((1.05, 1.04, 1.08), effect=0.06), effect_source="A/A noise of the run 6.0 %")
        self.expect(UNCLEAR, "A/A noise", noisy)

    def test_ways_that_disagree_are_unclear(self):
        self.expect(UNCLEAR, "disagree", row((1.05, 1.04, 1.06), (1.01, 1.0, 1.02)))
        self.expect(UNCLEAR, "", row((1.05, 1.04, 1.06), (0.95, 0.94, 0.96)))
        self.expect(SLOWER, "", row((1.05, 1.04, 1.06), (1.04, 1.03, 1.06)))

    def test_too_few_rounds_are_named(self):
        few = Row("op b1i1h1", (Estimate(float("nan"), 0, float("inf"), 1, "", 2),), adjusted=(1.0,), effect=0.03)
        self.expect(UNCLEAR, "too few rounds: 2", few)

    def test_disturbed_samples_are_no_evidence(self):
        for estimate in ((1.05, 1.04, 1.06), (1.0, 0.99, 1.01)):
            disturbed = replace(row(estimate), disturbed="9 of 9 samples of cpu are disturbed")
            self.expect(UNCLEAR, "9 of 9", disturbed)

    def test_nothing_to_compare_is_unclear(self):
        self.expect(UNCLEAR, "not in new", Row("op b1i1h1", missing="not in new"))


if __name__ == "__main__":
    unittest.main()
