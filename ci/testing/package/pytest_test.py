# SPDX-License-Identifier: Apache-2.0
"""The plug-in of pytest and the strategies of Hypothesis. Runs under the interpreter of the native module."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import unittest

from backgauge.cases import planned_lines
from command import CommandTest

KERNELS = pathlib.Path(__file__).resolve().parents[1] / "kernels"
HEAD = """
import numpy as np
import pytest
from cells import gradient

READ = ("cs_prev", "wci", "wcf", "wco", "i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad")

def right(case):
    with np.errstate(all="ignore"):
        return gradient(*(case.inputs[name] for name in READ), **case.attributes)

"""
MARK = '@pytest.mark.backgauge(op="LSTMBlockCellGrad", dtypes=["f32"], use_peephole=[False])\n'
LINES = planned_lines("LSTMBlockCellGrad", dtypes=["f32"], use_peephole=[False])


def needs(module):
    return unittest.skipUnless(importlib.util.find_spec(module), f"there is no {module}: ci/install-deps --python")


@needs("pytest")
class Plugin(CommandTest):
    def pytest(self, text, *arguments, code=0):
        (self.folder / "test_mine.py").write_text(HEAD + text)
        environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{KERNELS}", "PYTEST_ADDOPTS": "", "COLUMNS": "400"}
        done = subprocess.run([sys.executable, "-m", "pytest", "-p", "backgauge.pytest_plugin", "-p", "no:cacheprovider",
                               *(arguments if any("test_" in each or each == "." for each in arguments) else [*arguments, "test_mine.py"])], capture_output=True, text=True, cwd=self.folder, env=environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("INTERNALERROR", done.stdout + done.stderr)
        return done.stdout

    def test_one_test_for_each_case(self):
        out = self.pytest(MARK + "def test_cell(case):\n    case.assert_conforms(right(case))\n", "-v")
        self.assertEqual(re.findall(r"test_cell\[(.*)\] PASSED", out), LINES)
        self.assertGreater(len(LINES), 50)

    @needs("xdist")
    def test_processes_of_xdist_agree(self):
        out = self.pytest(MARK + "def test_cell(case):\n    case.assert_conforms(right(case))\n", "-v", "-n", "auto")
        self.assertEqual(sorted(re.findall(r"PASSED test_mine.py::test_cell\[(.*?)\] *$", out, re.MULTILINE)), sorted(LINES))

    def test_a_failure_shows_the_element_and_what_repeats_it(self):
        text = (MARK + "def test_cell(case):\n    outputs = right(case)\n    outputs['dicfo'] = 2 * outputs['dicfo']\n"
                "    case.assert_conforms(outputs)\n")
        out = self.pytest(text, "-k", LINES[-1].split()[1] + " and 0x", "--maxfail=1", code=1)
        self.assertRegex(out, r"AssertionError: LSTMBlockCellGrad: FAILED lstm_block_cell_grad .* chk=\w{4}")
        self.assertRegex(out, r"tensor dicfo\[\d+,\d+\]: got \S+ want \S+ ratio")
        self.assertIn("hint: it is twice as large", out)
        self.assertIn("repro: backgauge.case('lstm_block_cell_grad", out)
        self.assertNotIn("reports/backgauge/cases.py", out)

    def test_an_exception_shows_the_case(self):
        out = self.pytest(MARK + "def test_cell(case):\n    1 / 0\n", "--maxfail=1", code=1)
        self.assertRegex(out, r"- backgauge -+\ncase = backgauge.case\('lstm_block_cell_grad .* chk=\w{4}'\)")

    def test_one_id_runs_one_test(self):
        out = self.pytest(MARK + "def test_cell(case):\n    case.assert_conforms(right(case))\n",
                          f"test_mine.py::test_cell[{LINES[5]}]", "--deselect=test_mine.py::test_other")
        self.assertIn("1 passed", out)

    def test_the_option_chooses_the_tier(self):
        text = MARK.replace(")\n", ", tier=\"full\")\n") + "def test_cell(case):\n    pass\n"
        self.assertIn(f"{len(LINES)} tests collected", self.pytest(text, "--collect-only", "-q", "--backgauge-tier=smoke"))
        more = int(re.search(r"(\d+) tests collected", self.pytest(text, "--collect-only", "-q"))[1])
        self.assertGreater(more, 2 * len(LINES))

    def test_a_case_that_proves_nothing_is_skipped_with_the_reason(self):
        mark = MARK.replace(")\n", ", recomputes_co=True)\n")
        out = self.pytest(mark + "def test_cell(case):\n    pass\n", "-rs")
        self.assertRegex(out, r"SKIPPED \[\d+\] .*the implementation recomputes co, and the saved co differs from tanh\(cs\)")

    def test_a_wrong_mark_is_one_sentence(self):
        wrong = {"op='LSTM'": "op: expected one of LSTMBlockCellGrad", "": r"expected @pytest.mark.backgauge\(op=..., ...\)",
                 "op='LSTMBlockCellGrad', modes=['gru']": "unknown argument modes",
                 "op='LSTMBlockCellGrad', tier='night'": "--tier=night: expected smoke, ci or full"}
        for k, mark in enumerate(wrong):
            (self.folder / f"test_wrong_{k}.py").write_text(f"import pytest\n@pytest.mark.backgauge({mark})\ndef test_cell(case):\n    pass\n")
        out = self.pytest("@pytest.mark.backgauge(op='LSTMBlockCellGrad')\ndef test_cell():\n    pass\n", ".", code=2)
        for k, expected in enumerate(wrong.values()):
            self.assertRegex(out, f"test_wrong_{k}.py::test_cell: .*{expected}")
        self.assertIn("test_mine.py::test_cell: a test that is marked backgauge takes an argument `case`", out)
        self.assertNotIn("Traceback", out)

    def test_without_a_mark_there_is_no_case(self):
        self.assertIn("belongs to tests that are marked backgauge", self.pytest("def test_cell(case):\n    pass\n", code=1))


@needs("hypothesis")
class Strategies(unittest.TestCase):
    OPS = {"LSTMBlockCellGrad": "lstm_block_cell_grad b1i1h1 peep=0 ", "BlockLSTMGradV2": "block_lstm_grad_v2 t1b1i1h1 peep=0 ",
           "CudnnRNNBackprop": "cudnn_rnn_backprop t1b1i1h1 mode=tanh dir=uni layers=1 in=linear "}

    def falsified(self, op, wrong, **options):
        """The line of the simplest case for which `wrong(case)` holds; None if there is none."""
        from backgauge import strategies
        from hypothesis import given, settings
        seen = []

        @settings(max_examples=60, deadline=None, database=None, derandomize=True)
        @given(strategies.cases(op, **options))
        def check(case):
            seen.append(case.line)
            assert not wrong(case)

        try:
            check()
        except AssertionError:
            return seen[-1]
        return None

    def test_right_outputs_pass_and_every_wrong_one_shrinks_to_the_smallest_case(self):
        for op, smallest in self.OPS.items():
            with self.subTest(op=op):
                self.assertIsNone(self.falsified(op, lambda case: not self.conforms(case, 1)))
                line = self.falsified(op, lambda case: not self.conforms(case, 1.25))
                self.assertTrue(line.startswith(smallest), line)
                self.assertRegex(line, " dt=f32 data=(plain|strat):0x0 ")  # of the cell, plain:0x0 is all zeros

    def test_what_is_needed_to_fail_stays(self):
        line = self.falsified("CudnnRNNBackprop", lambda case: "mode=gru dir=bi layers=2" in case.line and "dt=f64" in case.line,
                              rnn_modes=["gru"])
        self.assertIn("t1b1i1h1 mode=gru dir=bi layers=2 in=linear dt=f64", line)
        line = self.falsified("BlockLSTMGradV2", lambda case: case.inputs["x"].shape[0] > 2 and case.inputs["seq_len_max"] < 2)
        self.assertIn("t3b1i1h1 peep=0 order=ifco seq=1 ", line)

    def test_claims_are_kept(self):
        self.assertIsNone(self.falsified("CudnnRNNBackprop", lambda case: "mode=gru" not in case.line or "dt=f32" not in case.line,
                                         rnn_modes=["gru"], dtypes=["f32"]))

    @staticmethod
    def conforms(case, factor):
        import numpy as np
        dtype = next(value for value in case.inputs.values() if not isinstance(value, int)).dtype
        with np.errstate(all="ignore"):
            outputs = {name: (want * factor).astype(dtype) for name, want in case.oracle()[0].items()}
        try:
            case.assert_conforms(outputs)
        except AssertionError:
            return False
        return True


if __name__ == "__main__":
    unittest.main()
