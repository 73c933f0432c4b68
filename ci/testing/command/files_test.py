# SPDX-License-Identifier: Apache-2.0
"""Inputs of one's own in files, folders of cases, and the expected outputs that lie in them."""

import json
import shutil
import unittest
import xml.etree.ElementTree as xml

import equations
import numpy
from command import CELL, CommandTest

RNN = "cudnn_rnn_backprop t4b3i5h4 mode=lstm dir=bi layers=2 in=linear drop=0.5 dt={} data=strat:0x3c51"
BLOCK = "block_lstm_grad_v2 t5b3i17h4 peep=1 seq=4 dt=f32 data=strat:0x1f2e"
FORWARD = ("output", "output_h", "output_c")


def checksum(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{value:016x}"


class FilesTest(CommandTest):
    def case(self, line, name="case"):
        """The folder of a case, and its arrays by (role, name)."""
        folder = self.folder / name
        self.expect(0, "oracle", "--case", line, "--dir", folder)
        return folder, self.arrays(folder)

    @staticmethod
    def arrays(folder):
        document = json.loads((folder / "case.json").read_text())
        return {(entry["role"], entry["name"]): numpy.load(folder / entry["file"]) for entry in document["tensors"]}

    @staticmethod
    def write_outputs(folder, arrays, dtype, leave_out=()):
        folder.mkdir(parents=True, exist_ok=True)
        for (role, name), array in arrays.items():
            if role == "want" and name not in leave_out:
                numpy.save(folder / f"{name}.npy", array.astype(dtype))
        return folder


class OwnInputs(FilesTest):
    def given(self, arrays, leave_out=()):
        folder = self.folder / "mine"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for (role, name), array in arrays.items():
            if role in ("input", "dropout_mask") and name not in leave_out:
                numpy.save(folder / f"{name}.npy", array)
        return folder

    def test_the_answer_is_that_for_the_case_whose_inputs_they_are(self):
        for line, op, attributes in ((CELL, "LSTMBlockCellGrad", "use_peephole=true"), (BLOCK, "block_lstm_grad_v2", "use_peephole=1"),
                                     (RNN.format("f32"), "CudnnRNNBackprop", "rnn_mode=lstm,direction=bidirectional,dropout=0.5")):
            with self.subTest(line=line):
                _, arrays = self.case(line)
                folder = self.given(arrays)
                self.expect(0, "oracle", "--inputs", folder, f"--op={op}", f"--attributes={attributes}", "--independent-roundings")
                own = self.arrays(folder)
                for (role, name), array in arrays.items():
                    numpy.testing.assert_array_equal(own[role, name], array, err_msg=f"{role} {name}")
                self.assertIn(" data=own:0x0 ", json.loads((folder / "case.json").read_text())["case"])
                outputs = self.write_outputs(self.folder / "outputs", arrays, "float32", FORWARD)
                self.assertIn("PASSED", self.expect(0, "judge", "--dir", folder, "--outputs", outputs).stdout)
                shutil.rmtree(outputs)

    def test_from_an_archive_into_another_folder(self):
        _, arrays = self.case(CELL)
        inputs = {name: array for (role, name), array in arrays.items() if role == "input" and name not in ("x", "h_prev", "w", "b")}
        numpy.savez(self.folder / "mine.npz", **inputs)
        self.expect(0, "oracle", "--inputs", self.folder / "mine.npz", "--op=LSTMBlockCellGrad", "--attributes=use_peephole=true",
                    "--dir", self.folder / "out")
        wide = {name: array.astype(numpy.float64) for name, array in inputs.items()}
        want = equations.OPS["lstm_block_cell_grad"]({**wide, "x": None, "h_prev": None, "w": None, "b": None}, True)
        for name, array in want.items():
            numpy.testing.assert_allclose(self.arrays(self.folder / "out")["want", name], array, rtol=1e-12, atol=1e-13)

    def test_the_rigorous_bound_is_the_default_where_it_proves_something(self):
        for steps, proves in ((4, True), (30, False)):
            _, arrays = self.case(f"cudnn_rnn_backprop t{steps}b4i8h32 mode=tanh dt=f32 data=tame:0x3c51")
            folder = self.given(arrays)
            self.expect(0, "oracle", "--inputs", folder, "--op=CudnnRNNBackprop", "--attributes=rnn_mode=rnn_tanh")
            default, likely = self.arrays(folder)["allowed", "params_backprop"], arrays["allowed", "params_backprop"]
            with self.subTest(steps=steps):
                if proves:
                    self.assertGreater(numpy.median(default / likely), 2)
                else:
                    numpy.testing.assert_array_equal(default, likely)

    def test_what_is_wrong_is_said(self):
        _, arrays = self.case(CELL)
        good = self.given(arrays)
        _, stacked = self.case(RNN.format("f32"), "rnn")

        def refused(word, change=None, *options, of=arrays, leave_out=(), op="LSTMBlockCellGrad"):
            folder = self.given(of, leave_out)
            for name, array in (change or {}).items():
                numpy.save(folder / f"{name}.npy", array)
            done = self.expect_complaint(2, word, "oracle", "--inputs", folder, f"--op={op}", *options)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertFalse((folder / "case.json").exists())

        rnn = ("--attributes=rnn_mode=lstm,direction=bidirectional,dropout=0.5",)
        refused("op: expected one of LSTMBlockCellGrad", op="LSTM")
        refused("cs_prev: missing", leave_out=["cs_prev"])
        refused("i: expected shape [3, 7], got [3, 6]", {"i": numpy.zeros((3, 6), "f4")})
        refused("i: expected f32 as b, got f64", {"i": numpy.zeros((3, 7))})
        refused("i: expected floating-point numbers", {"i": numpy.zeros((3, 7), "u1")})
        refused("hgrad: LSTMBlockCellGrad has no such input", {"hgrad": numpy.zeros((3, 7), "f4")})
        refused("--attributes: expected name=value, got peephole", None, "--attributes=peephole")
        refused("use_peephole: expected true or false, got yes", None, "--attributes=use_peephole=yes")
        refused("rnn_mode: LSTMBlockCellGrad has no such attribute; it has use_peephole", None, "--attributes=rnn_mode=gru")
        refused("dropout: expected a number, got half", None, "--attributes=dropout=half", of=stacked, op="CudnnRNNBackprop")
        refused("rnn_mode: expected one of rnn_relu, rnn_tanh, lstm, gru, got elman", None, "--attributes=rnn_mode=elman", of=stacked, op="CudnnRNNBackprop")
        refused("dropout_keep: expected the masks, [1, 4, 3, 8], got none", None, *rnn, of=stacked, op="CudnnRNNBackprop", leave_out=["dropout_mask_0"])
        refused("dropout_keep: expected shape [1, 4, 3, 8], got [1, 4, 3, 4]", {"dropout_mask_0": numpy.ones((4, 3, 4), "u1")}, *rnn, of=stacked,
                op="CudnnRNNBackprop")
        refused("dropout_mask_0: missing", {"dropout_mask_1": numpy.ones((4, 3, 8), "u1")}, *rnn, of=stacked, op="CudnnRNNBackprop",
                leave_out=["dropout_mask_0"])
        self.expect_complaint(2, "data=own", "verify", "--case=lstm_block_cell_grad b1i1h1 dt=f32 data=own:0x0")
        self.assertTrue(good.is_dir())


class ManyCases(FilesTest):
    LINES = {"a": CELL, "b": BLOCK, "c": RNN.format("f64"), "d": CELL.replace("f32", "f16")}
    DTYPES = {"a": "float32", "b": "float32", "c": "float64", "d": "float16"}

    def setUp(self):
        super().setUp()
        self.cases = self.folder / "cases"
        for name, line in self.LINES.items():
            folder, arrays = self.case(line, f"cases/{name}")
            self.write_outputs(folder / "outputs", arrays, self.DTYPES[name], FORWARD)

    def test_all_are_judged_in_one_table(self):
        (self.cases / "notes").mkdir()
        out = self.expect(0, "judge", "--cases", self.cases).stdout
        self.assertIn("summary: 4 passed, 0 failed", out)
        self.assertRegex(out, r"cudnn_rnn_backprop +f64 ")

    def test_outputs_may_lie_elsewhere_and_in_archives(self):
        elsewhere = self.folder / "elsewhere"
        for name in self.LINES:
            arrays = {path.stem: numpy.load(path) for path in (self.cases / name / "outputs").iterdir()}
            shutil.rmtree(self.cases / name / "outputs")
            elsewhere.mkdir(exist_ok=True)
            numpy.savez(elsewhere / f"{name}.npz", **arrays)
        self.assertIn("summary: 4 passed", self.expect(0, "judge", "--cases", self.cases, "--outputs", elsewhere).stdout)
        self.assertIn("summary: 0 passed, 4 failed", self.expect(1, "judge", "--cases", self.cases).stdout)

    def test_wrong_missing_and_broken_outputs_fail_alone(self):
        dicfo = self.cases / "a" / "outputs" / "dicfo.npy"
        numpy.save(dicfo, 2 * numpy.load(dicfo))
        (self.cases / "b" / "outputs" / "x_grad.npy").write_bytes(b"no npy")
        shutil.rmtree(self.cases / "d" / "outputs")
        junit = self.folder / "junit.xml"
        out = self.expect(1, "judge", "--cases", self.cases, f"--junit={junit}").stdout
        self.assertIn("summary: 1 passed, 3 failed", out)
        self.assertRegex(out, r"FAILED lstm_block_cell_grad .* dt=f32.*\n  tensor dicfo\[\d,\d+\]: got")
        self.assertIn("hint: it is twice as large", out)
        self.assertIn(f"repro: backgauge judge --dir={self.cases / 'a'} --outputs={self.cases / 'a' / 'outputs'}", out.replace("'", ""))
        self.assertRegex(out, r"outputs: .*x_grad.npy: ")
        self.assertRegex(out, r"outputs: .*d/outputs.npz: ")
        root = xml.parse(junit).getroot()
        self.assertEqual((root.get("tests"), root.get("failures")), ("4", "3"))
        records = json.loads(self.expect(1, "judge", "--cases", self.cases, "--json").stdout)
        self.assertEqual([record["status"] for record in records], ["FAILED", "FAILED", "PASSED", "FAILED"])
        self.assertEqual([record["folder"] for record in records], [str(self.cases / name) for name in self.LINES])

    def test_any_number_of_jobs_gives_the_same_records(self):
        answers = []
        for jobs in ("1", "3"):
            records = json.loads(self.expect(0, "judge", "--cases", self.cases, "--json", "--jobs", jobs).stdout)
            answers.append([{**record, "ms": 0} for record in records])
        self.assertEqual(*answers)
        self.assertIn("--jobs", self.expect(2, "judge", "--cases", self.cases, "--jobs=0").stderr)

    def test_a_case_that_was_changed_ends_the_run(self):
        numpy.save(self.cases / "b" / "x.npy", numpy.zeros(3))
        self.expect_complaint(2, "--cases: ", "judge", "--cases", self.cases)


class GradientAlone(FilesTest):
    def test_outputs_of_the_forward_are_judged_where_they_are_given(self):
        folder, arrays = self.case(RNN.format("f32"))
        note = "without outputs of the forward, which were not given"
        alone = self.write_outputs(self.folder / "alone", arrays, "float32", FORWARD)
        self.assertIn(note, self.expect(0, "judge", "--dir", folder, "--outputs", alone).stdout)
        both = self.write_outputs(self.folder / "both", arrays, "float32")
        self.assertNotIn(note, self.expect(0, "judge", "--dir", folder, "--outputs", both).stdout)
        numpy.save(both / "output.npy", 2 * numpy.load(both / "output.npy"))
        self.assertIn("tensor output[", self.expect(1, "judge", "--dir", folder, "--outputs", both).stdout)
        (both / "output.npy").unlink()
        self.assertIn("output is missing", self.expect(1, "judge", "--dir", folder, "--outputs", both).stdout)
        numpy.save(alone / "params_backprop.npy", 2 * numpy.load(alone / "params_backprop.npy"))
        self.assertIn("tensor params_backprop[", self.expect(1, "judge", "--dir", folder, "--outputs", alone).stdout)


class Answers(FilesTest):
    """The expected outputs in a folder are used as long as they are those that were written."""

    def judged(self, folder, outputs, code=0):
        return self.expect(code, "judge", "--dir", folder, "--outputs", outputs).stdout

    def test_they_give_the_verdict_of_a_second_evaluation(self):
        for dtype, name in (("f64", "float64"), ("f32", "float32"), ("f16", "float16")):
            folder, arrays = self.case(RNN.format(dtype), dtype)
            outputs = self.write_outputs(self.folder / f"outputs_{dtype}", arrays, name)
            with_answer = self.judged(folder, outputs)
            document = json.loads((folder / "case.json").read_text())
            document["maker"] = "another build"
            (folder / "case.json").write_text(json.dumps(document))
            self.assertEqual(self.judged(folder, outputs), with_answer)

    def test_they_are_not_evaluated_again(self):
        folder, arrays = self.case(CELL)
        outputs = self.write_outputs(self.folder / "outputs", arrays, "float32")
        self.forge(folder)
        self.assertIn("tensor dicfo[", self.judged(folder, outputs, code=1))

    def test_a_change_is_noticed(self):
        remark = "so the expected outputs were computed again"
        folder, arrays = self.case(CELL)
        outputs = self.write_outputs(self.folder / "outputs", arrays, "float32")
        self.assertNotIn(remark, self.judged(folder, outputs))
        want = folder / "want" / "dicfo.npy"
        numpy.save(want, 2 * numpy.load(want))
        self.assertIn(f"dicfo.npy: changed since it was written, {remark}", self.judged(folder, outputs))
        self.forge(folder, sign=False)
        self.assertIn(f"case.json was changed, {remark}", self.judged(folder, outputs))

    def test_other_declarations_are_evaluated(self):
        folder, arrays = self.case(CELL.replace("f32", "f16"))
        outputs = self.write_outputs(self.folder / "outputs", arrays, "float16")
        ratio = [self.expect(0, "judge", "--dir", folder, "--outputs", outputs, *option).stdout.split("ratio")[-1].split("allowed")[1:]
                 for option in ([], ["--accuracy-class=B"])]
        self.assertNotEqual(*ratio)

    @staticmethod
    def forge(folder, sign=True):
        """Doubles an expected output, with checksums that are right; `sign`: also that of case.json."""
        document = json.loads((folder / "case.json").read_text())
        entry = next(each for each in document["tensors"] if (each["role"], each["name"]) == ("want", "dicfo"))
        array = numpy.load(folder / entry["file"]) * 2
        numpy.save(folder / entry["file"], array)
        entry["fnv1a"] = checksum((folder / entry["file"]).read_bytes())
        document.pop("digest")
        digest = checksum(json.dumps(document, separators=(",", ":")).encode())
        (folder / "case.json").write_text(json.dumps({**document, "digest": digest if sign else "0" * 16}))


if __name__ == "__main__":
    unittest.main()
