# SPDX-License-Identifier: Apache-2.0
"""backgauge judge: a program in numpy is judged by the files it writes; broken files are refused, never crashed on."""

import json
import resource
import shutil
import unittest
import zipfile

import equations
import numpy
from command import CELL, SANITIZED, CommandTest

LSTM_CASES = [
    CELL,
    CELL.replace("f32", "f16"),
    "block_lstm_grad_v2 t5b3i17h4 peep=1 seq=4 dt=f32 data=strat:0x1f2e",
    "block_lstm_grad_v2 t5b3i17h4 peep=0 dt=f16 data=strat:0x1f2e",
]
CUDNN = "cudnn_rnn_backprop t4b3i5h4 mode=gru dir=bi layers=2 in=linear drop=0.5 dt={} data=strat:0x3c51"


class JudgeTest(CommandTest):
    def prepare(self, line):
        """The folder of a case, and outputs that numpy computed (or, for cudnn, rounded), in the storage dtype."""
        folder = self.folder / "case"
        shutil.rmtree(folder, ignore_errors=True)
        self.expect(0, "oracle", "--case", line, "--dir", folder)
        document = json.loads((folder / "case.json").read_text())
        arrays = {(entry["role"], entry["name"]): numpy.load(folder / entry["file"]) for entry in document["tensors"]}
        self.allowed = {name: array for (role, name), array in arrays.items() if role == "allowed"}
        self.want = {name: array for (role, name), array in arrays.items() if role == "want"}
        outputs = self.want
        if document["op"] in equations.OPS:
            inputs = {name: array.astype(numpy.float64) for (role, name), array in arrays.items() if role == "input"}
            outputs = equations.OPS[document["op"]](inputs, document["attributes"]["use_peephole"])
        return folder, {name: array.astype(document["dtype"]) for name, array in outputs.items()}

    def save(self, outputs):
        folder = self.folder / "outputs"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, array in outputs.items():
            numpy.save(folder / f"{name}.npy", array)
        return folder

    def judge(self, exit_code, folder, outputs, *options):
        return self.expect(exit_code, "judge", "--dir", folder, "--outputs", outputs, *options).stdout

    def moved(self, output, name, index):
        """`output` with one element twice the allowed error, and a bit, away from what is wanted."""
        want, allowed = self.want[name][index], self.allowed[name][index]
        far = numpy.array(want + 2 * allowed).astype(output.dtype)
        while abs(numpy.float64(far) - want) <= 2 * allowed:
            far = numpy.nextafter(far, output.dtype.type(numpy.inf))
        output = output.copy()
        output[index] = far
        return output


class Outputs(JudgeTest):
    def test_right_outputs_pass_in_every_container(self):
        for line in LSTM_CASES + [CUDNN.format("f64"), CUDNN.format("f32"), CUDNN.format("f16")]:
            with self.subTest(line=line):
                folder, outputs = self.prepare(line)
                numpy.savez(self.folder / "plain.npz", **outputs)
                numpy.savez_compressed(self.folder / "compressed.npz", **outputs)
                for container in (self.save(outputs), self.folder / "plain.npz", self.folder / "compressed.npz"):
                    self.assertTrue(self.judge(0, folder, container).startswith("PASSED "))

    def test_tensors_that_nobody_asked_for(self):
        folder, outputs = self.prepare(CELL)
        self.judge(0, folder, self.save({**outputs, "loss": numpy.zeros(3, numpy.float32)}))

    def test_one_element_too_far_is_named(self):
        for line in LSTM_CASES + [CUDNN.format("f64")]:
            folder, outputs = self.prepare(line)
            for name in outputs:
                candidates = numpy.argwhere((self.allowed[name] > 0) & numpy.isfinite(self.allowed[name]))
                if len(candidates) == 0:
                    continue
                with self.subTest(line=line, tensor=name):
                    index = tuple(candidates[len(candidates) // 2])
                    changed = {**outputs, name: self.moved(outputs[name], name, index)}
                    text = self.judge(1, folder, self.save(changed))
                    place = ",".join(map(str, index))
                    self.assertRegex(text, rf"^FAILED .*\n  tensor {name}\[{place}\]: got \S+ want \S+ ratio "
                                           rf"\d\S* \(allowed \S+\); 1 of {outputs[name].size} elements wrong")

    def test_not_finite(self):
        folder, outputs = self.prepare(CELL)
        for value in (numpy.nan, numpy.inf, -numpy.inf):
            dicfo = outputs["dicfo"].copy()
            dicfo[1, 2] = value
            self.assertIn("tensor dicfo[1,2]: got", self.judge(1, folder, self.save({**outputs, "dicfo": dicfo})))

    def test_declarations_widen_the_bounds(self):
        folder, outputs = self.prepare(LSTM_CASES[3])
        coarse = {**outputs, "w_grad": self.moved(outputs["w_grad"], "w_grad", (2, 3))}
        self.judge(1, folder, self.save(coarse), "--accuracy-class=A")
        self.judge(0, folder, self.save(coarse), "--accuracy-class=B")
        for contract in ("fp32_strict", "fp32_9xbf16", "fp32_6xbf16", "fp32_3xtf32", "fp32_3xbf16", "fp32_tf32", "fp16_acc32", "bf16_acc32"):
            self.judge(0, folder, self.save(outputs), f"--numerical-contract={contract}")

    def test_a_hint_at_the_fault(self):
        folder, outputs = self.prepare(CELL)
        text = self.judge(1, folder, self.save({**outputs, "dicfo": 2 * outputs["dicfo"]}))
        self.assertRegex(text, r"\n  hint: it is twice as large \(to \d+ digits\)\n")

    def test_missing_and_misshapen(self):
        folder, outputs = self.prepare(CELL)
        dicfo = outputs["dicfo"]
        without = {name: array for name, array in outputs.items() if name != "dicfo"}
        self.assertIn("dicfo is missing", self.judge(1, folder, self.save(without)))
        for wrong, words in [(dicfo.T.copy(), "expected shape [3, 28], got [28, 3]"),
                             (dicfo[0], "expected shape [3, 28], got [28]"),
                             (dicfo.astype(numpy.float64), "expected dtype f32, got f64"),
                             (dicfo.astype(numpy.float16), "expected dtype f32, got f16"),
                             (dicfo.astype(numpy.int64), "expected dtype f32, got i64")]:
            self.assertIn(f"dicfo: {words}", self.judge(1, folder, self.save({**outputs, "dicfo": wrong})))


class BrokenFiles(JudgeTest):
    def refuse(self, word, folder, outputs):
        return self.expect_complaint(2, word, "judge", "--dir", folder, "--outputs", outputs)

    def test_broken_npy(self):
        folder, outputs = self.prepare(CELL)
        good = (self.save(outputs) / "dicfo.npy").read_bytes()
        broken = [good[:size] for size in range(0, len(good), 17)]
        broken += [good + b"x", b"\x93NUMPX" + good[6:], good.replace(b"'<f4'", b"'>f4'"), good.replace(b"'<f4'", b"'|O8'"),
                   good.replace(b"(3, 28)", b"(3,-28)"), good.replace(b"(3, 28)", b"(99999999999999999999,)"),
                   good[:8] + b"\xff\xff" + good[10:]]
        for k, content in enumerate(broken):
            with self.subTest(k=k):
                (self.save(outputs) / "dicfo.npy").write_bytes(content)
                self.refuse("dicfo.npy", folder, self.folder / "outputs")

    def test_broken_npz(self):
        folder, outputs = self.prepare(CELL)
        path = self.folder / "x.npz"
        numpy.savez_compressed(path, **outputs)
        good = path.read_bytes()
        for k, content in enumerate([good[:size] for size in range(0, len(good), 97)] + [b"no zip" * 100]):
            with self.subTest(k=k):
                path.write_bytes(content)
                self.refuse("x.npz", folder, path)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("dicfo.npy", b"no npy")
        self.refuse("dicfo", folder, path)

    def test_fortran_order(self):
        folder, outputs = self.prepare(CELL)
        self.refuse("Fortran order", folder, self.save({**outputs, "dicfo": numpy.asfortranarray(outputs["dicfo"])}))

    def test_nothing_there(self):
        folder, _ = self.prepare(CELL)
        (self.folder / "empty").mkdir()
        self.refuse("no .npy files", folder, self.folder / "empty")
        self.refuse("nowhere", folder, self.folder / "nowhere")
        with zipfile.ZipFile(self.folder / "x.npz", "w"):
            pass
        self.refuse("x.npz", folder, self.folder / "x.npz")

    def test_broken_case(self):
        folder, outputs = self.prepare(CELL)
        given = self.save(outputs)
        document = (folder / "case.json").read_text()
        for content in ("", "{}", "[]", document[:200], document.replace("case/1", "case/2"),
                        document.replace("peep=1", "peep=7"), document.replace('"float32"', '"float64"', 1)[:-40]):
            with self.subTest(content=content[:40]):
                (folder / "case.json").write_text(content)
                self.refuse(str(folder), folder, given)
        (folder / "case.json").write_text(document)
        numpy.save(folder / "i.npy", numpy.zeros((3, 7), numpy.float32))
        self.refuse("i.npy: changed since it was written", folder, given)
        (folder / "i.npy").unlink()
        self.refuse("i.npy", folder, given)


class Memory(JudgeTest):
    @unittest.skipIf(SANITIZED, "AddressSanitizer itself needs terabytes of addresses")
    def test_an_archive_that_needs_more_than_there_is_is_not_inflated(self):
        folder, outputs = self.prepare(CELL)
        bomb = self.folder / "bomb.npz"
        numpy.savez_compressed(bomb, **outputs, extra=numpy.zeros(30_000_000, numpy.float32))
        self.assertLess(bomb.stat().st_size, 1 << 20)
        half_gib = 1 << 29
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (half_gib, half_gib))}
        done = self.expect_complaint(2, "bomb.npz: needs ", "judge", "--dir", folder, "--outputs", bomb, **limit)
        self.assertIn("GiB of memory, 0.5 GiB are available", done.stderr)

    def test_a_case_that_needs_more_than_there_is_is_not_made(self):
        folder, _ = self.prepare(CELL)
        document = json.loads((folder / "case.json").read_text())
        document["case"] = CELL.replace("b3i5h7", "b100000i1h100000")
        (folder / "case.json").write_text(json.dumps(document))
        self.expect_complaint(2, "--dir", "judge", "--dir", folder, "--outputs", folder)


if __name__ == "__main__":
    unittest.main()
