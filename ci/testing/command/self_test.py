# SPDX-License-Identifier: Apache-2.0
"""backgauge self --correct: correct implementations pass, a wrong one makes it fail, and its counts are true."""

import json
import os
import pathlib
import unittest

import command

VARIANTS = pathlib.Path(os.environ["BACKGAUGE_TEST_VARIANTS"])
FEW = ("--tier=smoke", "--cases=30", "--ops=lstm_block_cell_grad", "--jobs=2")


class SelfTest(command.CommandTest):
    def test_correct_ones_pass_in_this_process_and_in_others(self):
        variant = VARIANTS / "pairwise_sums.so"
        done = self.expect(0, "self", "--correct", *FEW, "--seeds=1,2", f"--impl=plain,{variant}", "--json")
        result = json.loads(done.stdout)
        self.assertEqual(result["schema"], "backgauge.correct/1")
        self.assertTrue(result["holds"])
        self.assertEqual((result["cases"], result["false_alarms"], result["seeds"]), (60, 0, [1, 2]))
        self.assertEqual([each["name"] for each in result["implementations"]], ["plain", "pairwise_sums"])
        for each in result["implementations"]:
            self.assertEqual(each["runs"] + each["skipped"], 60)
        self.assertEqual(result["runs"], sum(each["runs"] for each in result["implementations"]))

    def test_a_wrong_one_turns_it_red(self):
        wrong = command.PLUGINS / "leaves_output_unwritten.so"
        done = self.expect(6, "self", "--correct", *FEW, f"--impl=plain,{wrong}")
        self.assertIn("FALSE ALARM leaves_output_unwritten: lstm_block_cell_grad ", done.stdout)
        self.assertNotIn("FALSE ALARM plain", done.stdout)

    def test_one_that_is_never_judged_turns_it_red(self):
        done = self.expect(6, "self", "--correct", "--tier=smoke", "--cases=30", "--ops=cudnn_rnn_backprop",
                           f"--impl={command.C_PLUGINS / 'plugin_in_c.so'}")
        self.assertIn("NOT JUDGED", done.stdout)

    def test_the_sentence_of_the_readme(self):
        readme = self.folder / "README.md"
        begin, end = "<!-- correct: written by backgauge self --correct --readme -->", "<!-- end of correct -->"
        readme.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
        self.expect(0, "self", "--correct", *FEW, "--impl=plain", f"--readme={readme}")
        text = readme.read_text()
        self.assertRegex(text, f"before\n{begin}\n0 false alarms in [0-9,]+ judged runs of 1 implementations .*\n{end}\nafter")

    def test_the_strength_of_the_mustpass_lists(self):
        done = self.expect(0, "self", "--mustpass=1.0", "--ops=lstm_block_cell_grad", "--only=A2", "--jobs=2")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 2, done.stdout)
        for line, dtype in zip(lines, ("f16", "f32")):
            self.assertRegex(line, rf"^lstm_block_cell_grad_{dtype}.txt +\d+ lines refuse (\d+) of \1 saboteurs$")
        self.expect_complaint(2, "--mustpass=0.9: expected 1.0", "self", "--mustpass=0.9")
        self.expect_complaint(2, "--only=none", "self", "--mustpass=1.0", "--only=none")

    def test_options_need_it(self):
        self.expect_complaint(2, "--correct", "self", "--impl=plain")
        self.expect_complaint(3, "no_such", "self", "--correct", *FEW, "--impl=no_such")
        self.expect_complaint(2, "--tier", "self", "--correct", "--tier=tiny", "--impl=plain")


if __name__ == "__main__":
    unittest.main()
