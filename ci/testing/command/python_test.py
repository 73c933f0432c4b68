# SPDX-License-Identifier: Apache-2.0
"""Implementations in Python: judged and timed as those of a shared library are, whatever they do."""

import json
import os
import pathlib
import re
import unittest

from command import CELL, SANITIZED, CommandTest

HERE = pathlib.Path(__file__).resolve().parent
CELLS, STAGED = HERE.parent / "kernels" / "cells.py", HERE.parent / "kernels" / "staged_cell.py"
NUMPY = HERE.parents[2] / "impl" / "numpy" / "lstm_block_cell_grad.py"
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

    def test_no_process_is_started_that_would_come_too_late(self):
        starts = self.folder / "starts"
        self.expect(0, "verify", f"--impl={CELLS.parent / 'slow_start.py'}", f"--python={PYTHON}", "--jobs=8", f"--case={CELL}",
                    *(f"--case={CELL.replace('b3', f'b{size}')}" for size in range(4, 7)), environment={"BACKGAUGE_TEST_STARTS": str(starts)})
        self.assertLess(len(starts.read_text().splitlines()), 8)

    def test_a_wrong_number_is_found(self):
        self.assertRegex(self.judged("factor"), r"FAILED[^$]*cs_prev_grad")

    def test_an_exception_is_quoted_in_one_line_with_its_place(self):
        self.assertRegex(self.judged("raises"), r"ValueError: this kernel.*has two lines \(cells\.py, line \d+\)")

    def test_the_end_of_its_process_is_its_own_fault(self):
        self.assertIn("exit: status 7 in run", self.judged("exits"))
        self.assertIn("crash: SIGSEGV in run at address 0x8", self.judged("crashes"))
        self.assertIn("timeout: run has not returned within 2 s, the limit of --timeout", self.judged("hangs", "--timeout=2s"))

    def test_a_file_that_never_loads_is_named_with_the_option(self):
        file = self.folder / "waits.py"
        file.write_text("import time\ntime.sleep(60)\n")
        self.expect_complaint(3, "timeout: loading has not returned within 1 s, the limit of --timeout", "repro", CELL, f"--impl={file}",
                              f"--python={PYTHON}", "--timeout=1s")

    def test_memory_that_grows_with_calls_is_found(self):
        arguments = ["repro", "check: memory", f"--impl={CELLS}", f"--python={PYTHON}"]
        self.assertRegex(self.expect(0, *arguments).stdout, r"PASSED\n\nmemory: \d+ calls measured, it does not grow with them\n")
        found = self.expect(1, *arguments, environment={"BACKGAUGE_TEST_KERNEL": "keeps 16 KiB"}).stdout
        self.assertRegex(found, r"resident memory grows by \S+ kB with each call: by \S+ MB in \d+ calls")

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

    def test_claims_may_differ_between_dtypes(self):
        file = self.folder / "claims.py"
        file.write_text("import backgauge\n@backgauge.implements('CudnnRNNBackprop', dtypes=['f16', 'bf16', 'f32'], greatest_H=64,\n"
                        "                      accuracy_class={'f16': 'B', 'bf16': \"A'\"}, rnn_modes={'f16': ['gru']})\n"
                        "def k(input): pass\n")
        listed = self.expect(0, "list", f"--impl={file}", "--format=json", environment={"BACKGAUGE_PYTHON": PYTHON}).stdout
        [claim] = json.loads(listed)["implementations"][0]["claims"]
        every = ["relu", "tanh", "lstm", "gru"]
        self.assertEqual([claim[name] for name in ("accuracy_class", "rnn_modes", "greatest_H", "dropout")],
                         [{"f16": "B", "bf16": "A'"}, {"f16": ["gru"], "f32": every, "bf16": every}, 64, False])
        text = self.expect(0, "list", f"--impl={file}", environment={"BACKGAUGE_PYTHON": PYTHON}).stdout
        self.assertIn(" accuracy_class=f16:B,bf16:A'", text)
        done = self.expect(5, "repro", "cudnn_rnn_backprop t1b1i1h65 mode=lstm layers=1 dt=f32 data=strat:0x1", f"--impl={file}", f"--python={PYTHON}")
        self.assertIn("H = 65 is not claimed: at most 64", done.stdout)

    def test_a_gradient_alone_is_judged_with_the_forward_and_the_masks_of_cpu(self):
        # Both directions of a layer read the one below through one mask, or each through its own.
        for per_direction in ("", "1"):
            done = self.expect(0, "verify", f"--impl={HERE.parent / 'kernels' / 'rnn_tanh.py'}", f"--python={PYTHON}", "--tier=smoke",
                               "--ops=CudnnRNNBackprop", environment={"BACKGAUGE_TEST_MASKS_PER_DIRECTION": per_direction})
            for dtype in DTYPES:
                self.assertRegex(done.stdout, rf"cudnn_rnn_backprop +{dtype} ")
            self.assertRegex(done.stdout, r"summary: [1-9]\d+ passed, 0 failed, 0 mistrusted")
            self.assertNotIn("dropout", done.stdout)
            self.assertEqual("masks per direction" in done.stdout, bool(per_direction))

    def malformed(self, kernel, op="lstm_block_cell_grad", steps=""):
        """The verdicts on all malformed calls of float32, by a kernel that is said to check its arguments."""
        out, line = self.folder / f"{kernel}-{op}", f"{op} {steps}b1i1h1 dt=f32 data=malformed:0x"
        numbers = re.search(r" has 0x(\w+) malformed calls", self.expect(2, "repro", f"{line}ffffff", "--impl=plain").stderr)[1]
        self.expect(int(kernel != "checks_itself"), "verify", f"--impl={HERE.parent / 'kernels' / kernel}.py", f"--python={PYTHON}", "--no-shrink",
                    f"--out={out}", *(f"--case={line}{number:x}" for number in range(int(numbers, 16))))
        return [json.loads(record) for record in (out / "records.jsonl").read_text().splitlines()]

    def test_a_function_that_checks_its_arguments_is_given_malformed_calls(self):
        self.assertEqual({record["status"] for record in self.malformed("checks_itself")}, {"PASSED"})
        for call in (("lstm_block_cell_grad",), ("block_lstm_grad_v2", "t1")):
            with self.subTest(call[0]):
                accepted = [record for record in self.malformed("refuses_nothing", *call) if record["status"] == "FAILED"]
                self.assertGreater(len(accepted), 200)  # those that arguments can say
                self.assertEqual({record["reason"].rpartition(": ")[2] for record in accepted}, {"run accepted a call that must be refused"})
                text = "\n".join(record["reason"] for record in accepted)
                for seen in (r": dimension \d = ", r": rank ", r": dtype "):
                    self.assertRegex(text, seen)
                for unseen in (r": (dicfo|\w+_prev_grad|[xwb]\w*_grad): ", "data NULL", "memory_space", "left out", r"dimension \d = 2147483648", "use_peephole",
                               "misaligned", "reserved"):
                    self.assertNotRegex(text, unseen)

    def test_it_is_timed(self):
        out = self.folder / "run.json"
        self.expect(0, "bench", f"--impl={NUMPY},cpu", f"--python={PYTHON}", f"--case={CELL}", "--reps=2", f"--out={out}")
        entries = json.loads(out.read_text())
        self.assertIn("lstm_block_cell_grad", json.dumps(entries))


@unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
class Staged(CommandTest):
    def done(self, wrong, code, *arguments):
        return self.expect(code, *arguments, f"--impl={STAGED}", f"--python={PYTHON}", environment={"BACKGAUGE_TEST_KERNEL": wrong})

    def judged(self, wrong, code=1):
        return self.done(wrong, code, "repro", CELL).stdout

    def timed(self, wrong, code, *arguments):
        """What was printed, and the verdict in the file of samples."""
        out = self.folder / "run.json"
        done = self.done(wrong, code, "bench", f"--case={CELL}", "--reps=2", "--min-time=1", "--launches=1", f"--out={out}", *arguments)
        lines = [json.loads(line) for line in out.with_suffix(".samples.jsonl").read_text().splitlines()]
        return done.stdout, next(line for line in lines if "verdict" in line)

    def test_all_parts_are_judged(self):
        self.judged("", code=0)
        self.assertIn("ValueError: not prepared (staged_cell.py, line ", self.judged("raises before"))
        self.assertIn("ValueError: not computed (staged_cell.py, line ", self.judged("raises in the time"))
        self.assertIn("ValueError: not named (staged_cell.py, line ", self.judged("raises after"))
        self.assertIn("TypeError: staged: expected a function, or a pair of functions, to be returned, got dict", self.judged("returns its outputs"))

    def test_what_a_part_does_besides_is_found(self):
        self.assertRegex(self.judged("writes its input"), "h_grad")
        self.assertRegex(self.judged("keeps its outputs"), "FAILED|BROKEN")

    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
    def test_it_is_prepared_again_for_each_call_and_an_empty_call_is_shown(self):
        shown, verdict = self.timed("", 0)
        self.assertEqual(verdict["verdict"], "PASSED")
        self.assertGreater(verdict["empty_call_seconds"], 0)
        self.assertRegex(shown, r"\n +\S+ us of it for an empty call\n")
        runs = json.loads((self.folder / "run.json").read_text())["benchmarks"]
        self.assertAlmostEqual(runs[0]["empty_call_us"], 1e6 * verdict["empty_call_seconds"])

    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
    def test_an_answer_from_a_cache_is_found_when_the_inputs_have_changed(self):
        shown, verdict = self.timed("answers from a cache", 1)
        self.assertEqual(verdict["verdict"], "FAILED")
        self.assertIn("after the last timing: ", verdict["reason"])

    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
    def test_an_error_where_nothing_is_judged_is_found_in_each_part(self):
        for wrong, part, said in (("raises before", "prepare", "not prepared"), ("raises in the time", "run", "not computed"),
                                  ("raises after", "finish", "not named")):
            with self.subTest(part=part):
                shown, verdict = self.timed(wrong, 1, "--unjudged")
                self.assertRegex(verdict["reason"], rf"^{part} returned internal: ValueError: {said} \(staged_cell\.py, line \d+\)$")


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
                (head + "@backgauge.implements('LSTMGrad', dtypes=['f32'])\ndef k(x): pass\n", "InputError: implements: op: expected one of LSTMBlockCellGrad, .*, CudnnRNN, got LSTMGrad"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['float32'])\ndef k(x): pass\n", "dtypes: expected one of f16, .*, got float32"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f64'])\ndef k(x): pass\n", "InputError: implements: dtypes: LSTMBlockCellGrad has f16, f32"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'])\ndef k(x, hgrad): pass\n", "k: parameter hgrad: expected names of LSTMBlockCellGrad: x, cs_prev"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'], modes=['gru'])\ndef k(x): pass\n", "InputError: implements: unknown argument modes"),
                (head + "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'], staged=1)\ndef k(x): pass\n", "InputError: implements: staged: expected True or False, got 1"),
                (head + "@backgauge.implements('CudnnRNN', dtypes=['f32'], staged=True)\ndef k(x): pass\n", "InputError: implements: staged: expected False for CudnnRNN"),
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
