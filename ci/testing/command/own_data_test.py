# SPDX-License-Identifier: Apache-2.0
"""Data of one's own: what the judge proves without any declaration, what it says where it proves nothing, and what it leaves alone."""

import json
import pathlib
import sys
import unittest

import numpy
from command import CommandTest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "frameworks"))
import own_nets

DECLARE = "declare independent_roundings (--independent-roundings of `backgauge oracle`)"


class OwnData(CommandTest):
    def folder_of(self, inputs, name="mine"):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for each, value in inputs.items():
            numpy.save(folder / f"{each}.npy", value)
        return folder

    def oracle(self, folder, mode, *options, code=0):
        return self.expect(code, "oracle", "--inputs", folder, "--op=CudnnRNNBackprop", f"--attributes=rnn_mode={mode}", *options)

    def judged(self, folder, outputs, code):
        numpy.savez(self.folder / "outputs.npz", **outputs)
        return self.expect(code, "judge", "--dir", folder, "--outputs", self.folder / "outputs.npz")


class Nets(OwnData):
    def test_default_initialised_nets_are_judged_without_a_declaration(self):
        nets = [(mode, "f32", (30, 8, 8, 16), ("right", "zeros")) for mode in own_nets.GATES]
        nets += [("lstm", "f16", (16, 4, 24, 64), ("right", "zeros")),
                 ("gru", "bf16", (10, 8, 8, 16), tuple(own_nets.EXPECTED))]
        for mode, dtype, sizes, outputs in nets:
            with self.subTest(mode=mode, dtype=dtype, sizes=sizes):
                words, _, printed = own_nets.judged(mode, dtype, sizes, 1, outputs_of=outputs)
                self.assertEqual(words, {what: own_nets.EXPECTED[what] for what in outputs})
                self.assertNotIn("warning", printed)

    def test_gradients_of_a_sum_are_as_random_as_the_net(self):
        inputs = own_nets.drawn("lstm", (30, 8, 8, 16), 2)
        inputs["output_backprop"][:] = 1
        folder = self.folder_of(inputs)
        self.oracle(folder, "lstm")
        right = own_nets.gradients("lstm", inputs)
        self.judged(folder, right, 0)
        self.judged(folder, {name: numpy.zeros_like(value) for name, value in right.items()}, 1)


class NothingProven(OwnData):
    def setUp(self):
        super().setUp()
        self.inputs = own_nets.drawn("lstm", (100, 8, 8, 16), 3)
        self.inputs["input"][:] = self.inputs["input"][:, :1]  # all examples are the same
        self.right = own_nets.gradients("lstm", self.inputs)

    def test_it_has_its_exit_code_and_says_what_to_declare(self):
        folder = self.folder_of(self.inputs)
        said = self.oracle(folder, "lstm").stdout
        self.assertIn("\nwarning: the allowed errors of ", said)
        self.assertIn("because values of input repeat up to 8 times", said)
        self.assertIn(DECLARE, said)
        for outputs in (self.right, {**self.right, "params_backprop": numpy.zeros_like(self.right["params_backprop"])}):
            done = self.judged(folder, outputs, 5)
            self.assertIn("MISTRUSTED cudnn_rnn_backprop", done.stdout)
            self.assertIn("prove nothing", done.stdout)
            self.assertIn(DECLARE, done.stdout)
            self.assertNotIn("may overflow", done.stdout)

    def test_what_is_declared_decides(self):
        folder = self.folder_of(self.inputs)
        self.assertNotIn("warning", self.oracle(folder, "lstm", "--independent-roundings").stdout)
        self.judged(folder, self.right, 0)
        self.judged(folder, {**self.right, "params_backprop": numpy.zeros_like(self.right["params_backprop"])}, 1)

    def test_in_a_folder_of_cases(self):
        cases = self.folder / "cases"
        cases.mkdir()
        folder = self.folder_of(self.inputs, "cases/one")
        self.oracle(folder, "lstm")
        (folder / "outputs").mkdir()
        for name, value in self.right.items():
            numpy.save(folder / "outputs" / f"{name}.npy", value)
        done = self.expect(5, "judge", "--cases", cases)
        self.assertIn("nothing was proven: every case is MISTRUSTED", done.stdout)

    def test_a_bound_that_overflows_is_no_overflow(self):
        T, B, H = 400, 4, 16
        inputs = own_nets.drawn("gru", (T, B, 8, H), 4)
        inputs["params"] *= 4
        inputs["input"][:] = inputs["input"][:, :1]
        folder = self.folder_of(inputs)
        self.oracle(folder, "gru")
        allowed = numpy.load(folder / "allowed" / "params_backprop.npy")
        self.assertTrue(numpy.isinf(allowed).any())
        want = numpy.load(folder / "want" / "params_backprop.npy")
        self.assertTrue(numpy.isfinite(want).all())
        done = self.judged(folder, own_nets.gradients("gru", inputs), 5)
        self.assertNotIn("may overflow", done.stdout)
        self.assertIn("they overflow, and its values do not", done.stdout)
        self.assertIn(DECLARE, done.stdout)


class Doors(OwnData):
    def setUp(self):
        super().setUp()
        self.inputs = own_nets.drawn("rnn_tanh", (4, 3, 5, 4), 5)

    def refused(self, said, change, *options, mode="rnn_tanh", attributes="", op="CudnnRNNBackprop"):
        folder = self.folder_of({**self.inputs, **change})
        arguments = f"--attributes=rnn_mode={mode}{attributes}" if op == "CudnnRNNBackprop" else "--attributes=use_peephole=false"
        self.expect_complaint(2, said, "oracle", "--inputs", folder, f"--op={op}", arguments, *options)
        for name in change:
            (folder / f"{name}.npy").unlink()

    def test_what_is_no_input_is_refused_by_its_name(self):
        lengths = numpy.full(3, 4)
        for value in (lengths, lengths.astype("f4"), lengths.astype("u1")):
            self.refused("--inputs: sequence_lengths: CudnnRNNBackprop has no such input; it has input, input_h, ", {"sequence_lengths": value})

    def test_whole_numbers_are_no_values(self):
        self.refused("--inputs: input: expected floating-point numbers, float16, bfloat16, float32 or float64, got i64",
                     {"input": numpy.ones((4, 3, 5), "i8")})
        whole = {name: numpy.ones(value.shape, "i8") for name, value in self.inputs.items()}
        self.refused("--inputs: input: expected floating-point numbers", whole)

    def test_a_length_is_a_whole_number(self):
        self.inputs = {}
        for value, got in ((numpy.float64(2.5), "f64"), (numpy.float32(2), "f32"), (numpy.uint8(2), "uint8")):
            self.refused(f"--inputs: seq_len_max: expected a whole number, int64, got {got}", {"seq_len_max": value}, op="BlockLSTMGradV2")
        self.refused("--inputs: seq_len_max: expected 0 dimensions, got [1]", {"seq_len_max": numpy.ones(1, "i8")}, op="BlockLSTMGradV2")

    def test_attributes_have_no_blanks_and_are_given_once(self):
        self.refused('--attributes: expected name=value without blanks, got " dropout=0"', {}, attributes=", dropout=0")
        self.refused("--attributes: dropout is given twice", {}, attributes=",dropout=0,dropout=0.5")

    def test_masks_hold_0_and_1(self):
        self.inputs = own_nets.drawn("rnn_tanh", (4, 3, 4, 4), 5)
        self.inputs.update({name: self.inputs[name].repeat(2, 0) for name in ("input_h", "output_h_backprop")})
        self.inputs["params"] = self.inputs["params"].repeat(2)
        keep = numpy.random.default_rng(1).uniform(size=(4, 3, 4))
        for mask, got in ((keep, "0."), (numpy.round(keep * 255).astype("u1"), "1")):
            self.refused("--inputs: dropout_mask_0: expected 1 where an element is kept and 0 where it is dropped, got " + got,
                         {"dropout_mask_0": mask}, attributes=",dropout=0.3")
        for dtype in ("f8", "u1", "?"):
            folder = self.folder_of({**self.inputs, "dropout_mask_0": (keep > 0.3).astype(dtype)})
            self.expect(0, "oracle", "--inputs", folder, "--op=CudnnRNNBackprop", "--attributes=rnn_mode=rnn_tanh,dropout=0.3")
            document = json.loads((folder / "case.json").read_text())
            mask, = (folder / entry["file"] for entry in document["tensors"] if entry["role"] == "dropout_mask")
            numpy.testing.assert_array_equal(numpy.load(mask), keep > 0.3)

    def test_files_of_the_user_are_never_written(self):
        self.inputs = own_nets.drawn("rnn_tanh", (4, 3, 4, 4), 5)
        self.inputs.update({name: self.inputs[name].repeat(2, 0) for name in ("input_h", "output_h_backprop")})
        self.inputs["params"] = self.inputs["params"].repeat(2)
        self.inputs["dropout_mask_0"] = numpy.random.default_rng(1).uniform(size=(4, 3, 4)) > 0.3
        folder = self.folder_of(self.inputs)
        with open(folder / "params.npy", "wb") as file:  # with another header
            numpy.lib.format.write_array(file, self.inputs["params"], version=(2, 0))
        for file in folder.iterdir():
            file.chmod(0o444)
        before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}
        for _ in range(2):
            self.expect(0, "oracle", "--inputs", folder, "--op=CudnnRNNBackprop", "--attributes=rnn_mode=rnn_tanh,dropout=0.3")
            for file, (data, time) in before.items():
                self.assertEqual(file.read_bytes(), data, file)
                self.assertEqual(file.stat().st_mtime_ns, time, file)
            want = {file.stem: numpy.load(file).astype("f4") for file in (folder / "want").iterdir()}
            self.judged(folder, want, 0)


if __name__ == "__main__":
    unittest.main()
