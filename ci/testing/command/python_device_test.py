# SPDX-License-Identifier: Apache-2.0
"""Functions of Python that compute on a device, without one: a stand-in replaces it, whose memory the host cannot touch and whose work is
done only when somebody waits for it (FAKE_CUDA_APART in properties/device/testing/fake_cudart.cc)."""

import itertools
import json
import os
import pathlib
import unittest

from command import CELL, SANITIZED, CommandTest

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "kernels"
KERNEL, STAGED, RNN = KERNELS / "device_cell.py", KERNELS / "device_staged_cell.py", KERNELS / "device_rnn_tanh.py"
PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]
APART = {"BACKGAUGE_CUDART": os.environ["BACKGAUGE_TEST_CUDART"], "FAKE_CUDA_APART": "1"}


@unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
class OnDevice(CommandTest):
    def done(self, code, *arguments, wrong="", kernel=KERNEL, **variables):
        return self.expect(code, *arguments, f"--impl={kernel}", f"--python={PYTHON}",
                           environment={**APART, "BACKGAUGE_TEST_KERNEL": wrong, **variables}).stdout

    def judged(self, wrong, code=1, **variables):
        return self.done(code, "repro", CELL, wrong=wrong, **variables)

    def test_a_part_of_a_tier_passes_also_called_at_once(self):
        done = self.done(0, "verify", "--tier=smoke", "--ops=LSTMBlockCellGrad", "--shard=1/4")
        self.assertRegex(done, r"summary: [1-9]\d+ passed, 0 failed, 0 mistrusted")
        self.assertIn("malformed calls are made in host memory only", done)
        self.assertRegex(done, r"concurrent calls: \d+ sets? of cases, [1-9]\d* calls")

    def test_all_ways_to_give_results(self):
        for way in ("", "has an interface alone", "fills its outputs", "uses another stream", "returns a list of outputs"):
            with self.subTest(way=way):
                self.judged(way, code=0)

    def test_wrong_numbers_and_exceptions(self):
        self.assertRegex(self.judged("factor"), r"FAILED[^$]*cs_prev_grad")
        self.assertRegex(self.judged("raises"), r"ValueError: this kernel cannot be launched \(device_cell\.py, line \d+\)")

    def test_results_that_are_not_as_they_must_be_are_named_before_they_are_read(self):
        for wrong, expected in (
                ("returns host memory", "ValueError: dicfo: expected an array on the device, got one in other memory: numpy.ndarray"),
                ("returns a list", "TypeError: dicfo: expected an array on the device, with __dlpack__ or __cuda_array_interface__, got list"),
                ("returns another dtype", "ValueError: dicfo: expected float32, got float64"),
                ("returns another shape", "ValueError: dicfo: expected shape [3, 28], got [28, 3]"),
                ("returns a transposed array", "ValueError: dicfo: expected contiguous memory in row-major order, got shape [3, 28] with strides [1, 3]"),
                ("cannot be exported", "TypeError: dicfo: BufferError: int64 cannot be exported"),
                ("forgets an output", "ValueError: expected the outputs cs_prev_grad, dicfo, wci_grad, wcf_grad, wco_grad; got cs_prev_grad")):
            with self.subTest(wrong=wrong):
                self.assertIn(expected, self.judged(wrong))

    def test_what_it_does_besides_is_found(self):
        self.assertIn("changed the input h_grad", self.judged("writes its input"))
        self.assertIn("wrote past the end of dicfo", self.judged("writes past the end"))
        self.assertIn("wrote before the beginning of dicfo", self.judged("writes before"))

    def test_the_host_cannot_touch_the_memory(self):
        self.assertIn("crash: SIGSEGV in run", self.judged("touches its input"))

    def test_work_that_nobody_has_put_on_the_stream_comes_too_late(self):
        self.assertRegex(self.judged("forgets its stream"), "never written|after the call had returned")

    def test_an_error_of_the_device_is_that_of_the_call(self):
        # The first synchronization is the judge's own, after it has put everything in place.
        for way in ("fills its outputs", ""):
            with self.subTest(way=way):
                self.assertIn("after run the device reported: cudaStreamSynchronize: an illegal memory access",
                              self.judged(way, FAKE_CUDA_FAULT="2"))

    def test_without_a_device_cases_are_skipped_with_the_reason(self):
        self.assertIn("no CUDA device: no CUDA-capable device is detected", self.judged("", code=5, FAKE_CUDA_DEVICES="0"))

    def test_a_gradient_alone_has_the_forward_and_the_masks_of_cpu(self):
        for dtype, direction in itertools.product(("f16", "bf16", "f32"), ("uni", "bi")):
            with self.subTest(dtype=dtype, direction=direction):
                line = f"cudnn_rnn_backprop t3b2i4h5 mode=tanh dir={direction} layers=3 drop=0.5 dt={dtype} data=strat:0x1"
                self.done(0, "repro", line, kernel=RNN)

    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
    def test_it_is_timed_by_events_of_the_stream(self):
        for kernel, wrong in ((KERNEL, "fills its outputs"), (KERNEL, ""), (STAGED, "")):
            with self.subTest(kernel=kernel.name, wrong=wrong):
                out = self.folder / "run.json"
                self.done(0, "bench", f"--case={CELL}", "--reps=2", "--min-time=1", "--launches=1", f"--out={out}", kernel=kernel, wrong=wrong)
                lines = [json.loads(line) for line in out.with_suffix(".samples.jsonl").read_text().splitlines()]
                self.assertEqual(next(line for line in lines if "verdict" in line)["verdict"], "PASSED")
                self.assertTrue(all(line["seconds"] > 0 for line in lines if "seconds" in line))

    def test_a_staged_function_is_judged(self):
        self.done(0, "repro", CELL, kernel=STAGED)


@unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
class Declarations(CommandTest):
    def refused(self, text):
        file = self.folder / "kernel.py"
        file.write_text(f"import backgauge\n{text}\n")
        return self.expect(3, "verify", "--tier=smoke", f"--impl={file}", f"--python={PYTHON}").stderr

    def test_wrong_ones_are_refused_in_one_line(self):
        head = "@backgauge.implements('LSTMBlockCellGrad', dtypes=['f32'], "
        for text, expected in (
                (head + "device='gpu')\ndef k(x): pass", "InputError: implements: device: expected cpu or cuda, got 'gpu'"),
                (head + "arrays='cupy')\ndef k(x): pass", "InputError: implements: arrays: expected None, torch or jax, got 'cupy'"),
                (head + "device='cuda', refuses=True)\ndef k(**all): pass", "InputError: implements: refuses: expected False unless"),
                (head + "arrays='torch', refuses=True)\ndef k(**all): pass", "InputError: implements: refuses: expected False unless"),
                (head[:-2] + ")\ndef k(stream): pass", "k: parameter stream: expected names of LSTMBlockCellGrad"),
                (head + "device='cuda')\ndef k(x): pass\n@backgauge.implements('BlockLSTMGradV2', dtypes=['f32'])\ndef j(x): pass",
                 "j: device: expected the device of k, which is in the same file")):
            with self.subTest(text=text):
                error = self.refused(text)
                self.assertIn(expected, error)
                self.assertEqual(error.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
