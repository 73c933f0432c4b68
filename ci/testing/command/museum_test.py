# SPDX-License-Identifier: Apache-2.0
"""backgauge museum: the cases of errors that other projects really had."""

import pathlib
import unittest

from command import CommandTest

MUSEUM = pathlib.Path(__file__).resolve().parents[3] / "properties/cases/museum.txt"


class Museum(CommandTest):
    def test_a_correct_implementation_has_none_of_them(self):
        shown = self.expect(0, "museum").stdout
        self.assertIn("PASSED     tensorflow#34171: the peephole terms of i and f added twice to cs_prev_grad\n", shown)
        notes = MUSEUM.read_text().split("\n\n")[1:]  # the first block is about the file
        self.assertTrue(shown.endswith(f"\ncpu: fails the cases of 0 of {len(notes)} known errors\n"), shown)
        self.assertEqual(shown.count("PASSED "), len(notes))

    def test_an_implementation_that_has_one_is_told_which(self):
        # A1: di wci + df wcf added twice to cs_prev_grad.
        shown = self.expect(1, "museum", "--impl=saboteur:A1.cell").stdout
        self.assertIn("FAILED     tensorflow#34171: ", shown)
        line = next(line for line in shown.splitlines() if line.startswith("           backgauge repro "))
        self.assertIn("lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x1 chk=ee19", line)
        self.assertIn("--impl='saboteur:A1.cell'", line)
        self.assertIn("hint: all outputs match those of a known error: di wci + df wcf added twice to cs_prev_grad", shown)

    def test_what_an_implementation_does_not_claim_is_skipped(self):
        shown = self.expect(0, "museum", "--impl=eigen").stdout
        self.assertRegex(shown, r"SKIPPED    pytorch#190056: .*\n {11}CudnnRNNBackprop is not claimed\n")
        self.assertIn("PASSED     mxnet#4057: ", shown)


if __name__ == "__main__":
    unittest.main()
