# SPDX-License-Identifier: Apache-2.0
"""Implementations in Python: judged and timed as those of a shared library are, whatever they do."""

import json
import os
import pathlib
import unittest

from command import CELL, CommandTest

HERE = pathlib.Path(__file__).resolve().parent
CELLS = HERE / "kernels" / "cells.py"
NUMPY = HERE.parents[1] / "impl" / "numpy" / "lstm_block_cell_grad.py"
PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]


DTYPES = ["f16", "bf16", "f32"]


@unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
class PythonTest(CommandTest):
    def judged(self, wrong, *arguments, code=1):
        return self.expect(code, "repro", CELL, f"--impl={CELLS}", f"--python={PYTHON}", *arguments,
                           environment={"BACKGAUGE_TEST_KERNEL": wrong}).stdout

    def test_the_example_passes_a_whole_tier(self):
        done = self.expect(0, "verify", f"--impl={NUMPY}", f"--python={PYTHON}", "--tier=smoke")
        self.assertRegex(done.stdout, r"lstm_block_cell_grad +f16 ")
        self.assertRegex(done.stdout, r"summary: [1-9]\d{2,} passed, 0 failed, 0 mistrusted")

    def test_what_is_right_passes(self):
        self.judged("", code=0)

    def test_a_wrong_number_is_found(self):
        self.assertRegex(self.judged("factor"), r"FAILED[^$]*cs_prev_grad")

    def test_an_exception_is_quoted_in_one_line_with_its_place(self):
        self.assertRegex(self.judged("raises"), r"ValueError: this kernel.*has two lines \(cells\.py, line \d+\)")

    def test_the_end_of_its_process_is_its_own_fault(self):
        self.assertIn("exit: status 7 in run", self.judged("exits"))
        self.assertIn("crash: SIGSEGV in run at address 0x8", self.judged("crashes"))
        self.assertRegex(self.judged("hangs", "--timeout=2s"), r"timeout: .*2 s")

    def test_outputs_must_be_all_there_and_of_their_shapes(self):
        self.assertIn("dicfo: expected shape [3, 28], got [3, 27]", self.judged("shape"))
        self.assertIn("expected the outputs cs_prev_grad, dicfo, wci_grad, wcf_grad, wco_grad; got", self.judged("forgets"))

    def test_what_it_does_besides_is_found(self):
        self.assertRegex(self.judged("writes its input"), "h_grad")
        self.assertIn("hello", self.judged("prints"))
        self.assertRegex(self.judged("keeps its outputs"), "FAILED|BROKEN")

    def test_answers_from_a_cache_are_found_among_many_cases(self):
        self.expect(1, "verify", f"--impl={CELLS}", f"--python={PYTHON}", "--tier=smoke",
                    environment={"BACKGAUGE_TEST_KERNEL": "answers from a cache"})

    def test_a_gradient_alone_is_judged_with_the_forward_and_the_masks_of_cpu(self):
        done = self.expect(0, "verify", f"--impl={HERE / 'kernels' / 'rnn_tanh.py'}", f"--python={PYTHON}", "--tier=smoke")
        for dtype in DTYPES:
            self.assertRegex(done.stdout, rf"cudnn_rnn_backprop +{dtype} ")
        self.assertRegex(done.stdout, r"summary: [1-9]\d+ passed, 0 failed, 0 mistrusted")
        self.assertNotIn("dropout", done.stdout)

    def malformed(self, kernel):
        """The verdicts on malformed calls of float32 in tier smoke, by a kernel that is said to check its arguments."""
        out = self.folder / kernel
        self.expect(int(kernel != "checks_itself"), "verify", f"--impl={HERE / 'kernels' / kernel}.py", f"--python={PYTHON}", "--tier=smoke",
                    "--ops=LSTMBlockCellGrad", "--no-shrink", f"--out={out}")
        records = map(json.loads, (out / "records.jsonl").read_text().splitlines())
        return [record for record in records if " dt=f32 data=malformed:" in record["id"]]

    def test_a_function_that_checks_its_arguments_is_given_malformed_calls(self):
        self.assertEqual({record["status"] for record in self.malformed("checks_itself")}, {"PASSED"})
        accepted = [record for record in self.malformed("refuses_nothing") if record["status"] == "FAILED"]
        self.assertGreater(len(accepted), 20)  # those that arguments can say
        self.assertEqual({record["reason"].rpartition(": ")[2] for record in accepted}, {"run accepted a call that must be refused"})
        text = "\n".join(record["reason"] for record in accepted)
        for seen in (r": dimension \d = ", r": rank ", r": dtype "):
            self.assertRegex(text, seen)
        for unseen in ("_grad: dimension", "data NULL", "memory_space", "left out", "2147483648", "use_peephole"):
            self.assertNotRegex(text, rf": (dicfo|cs_prev_grad|w.._grad)?{unseen}|{unseen}$")

    def test_it_is_timed(self):
        out = self.folder / "run.json"
        self.expect(0, "bench", f"--impl={NUMPY},cpu", f"--python={PYTHON}", f"--case={CELL}", "--reps=2", f"--out={out}")
        entries = json.loads(out.read_text())
        self.assertIn("lstm_block_cell_grad", json.dumps(entries))


class Unusable(CommandTest):
    def refused(self, text, *arguments):
        return self.expect(3, "verify", "--tier=smoke", *arguments).stderr

    def kernel(self, text):
        file = self.folder / "kernel.py"
        file.write_text(text)
        return f"--impl={file}"

    def test_an_interpreter_without_the_module_is_named(self):
        self.assertRegex(self.refused("", f"--impl={NUMPY}", "--python=/nowhere/python"), "^backgauge: /nowhere/python: no Python 3.11")

    @unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
    def test_a_file_that_declares_something_wrong_is_refused_in_one_line(self):
        head = "import backgauge\n"
        for text, expected in (
                ("import nothing_of_that_name\n", r"ModuleNotFoundError: .*nothing_of_that_name.*\(kernel\.py, line 1\)"),
                (head, "no function in it is decorated with @backgauge.implements"),
                (head + "@backgauge.implements('LSTMGrad', dtypes=['f32'])\ndef k(x): pass\n", "k: op: expected one of LSTMBlockCellGrad, .*, got LSTMGrad"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['float32'])\ndef k(x): pass\n", "dtypes: expected one of f16, .*, got float32"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f64'])\ndef k(x): pass\n", "k: dtypes: LSTMBlockCellGrad has f16, f32"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'])\ndef k(x, hgrad): pass\n", "k: parameter hgrad: expected names of LSTMBlockCellGrad: x, cs_prev"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'], modes=['gru'])\ndef k(x): pass\n", "InputError: implements: unknown argument modes"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'], refuses=True)\ndef k(x): pass\n", "k: refuses: expected a function that takes all inputs of LSTMBlockCellGrad; cs_prev is missing"),
                (head + "@backgauge.implements('CudnnRNNBackprop', dtypes=['f32'], refuses=True)\ndef k(**all): pass\n", "k: refuses: expected an op without a training forward, got CudnnRNNBackprop"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'], refuses=1)\ndef k(x): pass\n", "InputError: implements: refuses: expected True or False, got 1"),
                (head + 2 * "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'])\ndef k(x): pass\nj = k\n", "two functions implement LSTMBlockCellGrad"),
        ):
            with self.subTest(text=text):
                error = self.refused("", self.kernel(text), f"--python={PYTHON}")
                self.assertRegex(error, expected)
                self.assertEqual(error.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
