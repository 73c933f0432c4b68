# SPDX-License-Identifier: Apache-2.0
"""verify, repro and judge decide alike: the same outputs, right and wrong, as a plug-in's and as files."""

import json
import re
import shutil
import unittest

import numpy
from command import C_PLUGINS, CELL, CommandTest, run

PLUGIN = C_PLUGINS / "answers_from_files.so"

# line, options of judge. What the verdict is decided by differs: the dtype and its class, values that are random,
# structured or not finite, saved tensors of no forward pass, gradients near the largest half, bounds that say nothing.
LINES = [
    (CELL, []),
    ("lstm_block_cell_grad b17i19h23 peep=1 dt=f16 data=strat:0x1", []),
    ("lstm_block_cell_grad b3i2h4 peep=1 dt=f32 data=strat:0x1", ["--recomputes-co"]),
    ("lstm_block_cell_grad b3i2h4 peep=1 dt=f32 data=linear:0x1", ["--recomputes-co"]),
    ("lstm_block_cell_grad b3i4h5 peep=1 dt=f32 data=zeros:0x1", []),
    ("cudnn_rnn_backprop t2b5i5h5 mode=lstm dir=bi layers=1 in=skip dt=f16 data=saturated:0xa0987bd1", []),
    ("block_lstm_grad_v2 t5b3i17h4 peep=1 seq=4 dt=f32 data=strat:0x1f2e", []),
    ("block_lstm_grad_v2 t5b3i17h4 peep=1 seq=4 dt=f16 data=constant:0x1", ["--accuracy-class=B"]),
    ("block_lstm_grad_v2 t3b2i4h5 peep=0 dt=f32 data=nan:0x2", []),
    ("block_lstm_grad_v2 t3b2i4h5 peep=0 dt=f16 data=huge:0x3", ["--accuracy-class=A'"]),
    ("block_lstm_grad_v2 t3b2i4h5 peep=0 dt=f16 data=huge:0x3", []),
    ("cudnn_rnn_backprop t7b2i1h7 mode=gru dir=uni layers=1 in=linear dt=f16 data=huge:0x389fa264", ["--accuracy-class=B"]),
    ("cudnn_rnn_backprop t4b3i5h4 mode=gru dir=bi layers=2 in=linear dt=f64 data=strat:0x1", []),
    ("cudnn_rnn_backprop t4b3i5h4 mode=lstm dir=uni layers=1 in=linear dt=f32 data=inf:0x4", []),
]
# The words of properties, in the order of their enumerators.
WORDS = {"accuracy_class": ("A", "A'", "S", "B"),
         "numerical_contract": ("fp32_strict", "fp32_9xbf16", "fp32_6xbf16", "fp32_3xtf32", "fp32_3xbf16", "fp32_tf32", "fp16_acc32", "bf16_acc32")}


def number(name, word):
    """Of a property, as the plug-in takes it: "A'" is 2, "2^-17" a power, nothing a flag."""
    if name in WORDS:
        return 1 + WORDS[name].index(word)
    base, _, power = word.partition("^")
    return float(base) ** int(power) if power else word or 1


def claimed(options):
    """What the plug-in claims, for options of judge: "accuracy_class=2 recomputes_co=1"."""
    words = [option.removeprefix("--").partition("=") for option in options]
    named = [(name.replace("-", "_"), word) for name, _, word in words]
    return " ".join(f"{name}={number(name, word)}" for name, word in named)


class AnswersTest(CommandTest):
    def prepare(self, line):
        """What is wanted of a case and allowed, by name, and the line with its checksum."""
        self.case = self.folder / "case"
        shutil.rmtree(self.case, ignore_errors=True)
        self.expect(0, "oracle", "--case", line, "--dir", self.case)
        document = json.loads((self.case / "case.json").read_text())
        arrays = {(entry["role"], entry["name"]): numpy.load(self.case / entry["file"]) for entry in document["tensors"]}
        self.dtype = numpy.dtype(document["dtype"])
        self.want = {name: array for (role, name), array in arrays.items() if role == "want"}
        self.allowed = {name: array for (role, name), array in arrays.items() if role == "allowed"}
        self.facts = document["facts"]
        return document["case"]

    def variants(self):
        """Outputs that are right, and some in which the first or the last that has elements is wrong."""
        with numpy.errstate(over="ignore"):
            right = {name: array.astype(self.dtype) for name, array in self.want.items()}
            yield "right", right
            names = [name for name, array in right.items() if array.size > 0]
            for name in (names[0], names[-1]):
                array = right[name]
                wrong = array.copy()
                wrong.flat[array.size // 2] = numpy.nan
                yield f"NaN in {name}", {**right, name: wrong}
                allowed = self.allowed[name].flat[array.size // 2]
                far = self.want[name].flat[array.size // 2] + 3 * (allowed if numpy.isfinite(allowed) else 1)
                wrong = array.copy()
                wrong.flat[array.size // 2] = far
                yield f"three times what is allowed in {name}", {**right, name: wrong}

    def decisions(self, outputs, line, options):
        """(status, reason, exit code) of each door."""
        files, answers = self.folder / "files.npz", self.folder / "answers"
        answers.mkdir(exist_ok=True)
        numpy.savez(files, **outputs)
        for name, array in outputs.items():
            (answers / name).write_bytes(array.tobytes())
        environment = {"ANSWERS": str(answers), "ANSWERS_CLAIMS": claimed(options)}
        found = {}
        out = self.folder / "out"
        done = self.run_any("verify", "--case", line, "--no-shrink", f"--impl={PLUGIN}", f"--out={out}", environment=environment)
        record = json.loads((out / "records.jsonl").read_text())
        self.assertEqual(record["id"], line)
        found["verify"] = (record["status"], record.get("reason", ""), done.returncode)
        done = self.run_any("repro", line, f"--impl={PLUGIN}", environment=environment)
        self.assertEqual(done.stdout.splitlines()[0], line)
        self.shown = {"repro": done.stdout}
        found["repro"] = (re.search(r"^answers_from_files \(version 1\): (\w+)$", done.stdout, re.MULTILINE)[1],
                          record.get("reason", "") if record.get("reason", "") in done.stdout else done.stdout, done.returncode)
        done = self.run_any("judge", "--dir", self.case, "--outputs", files, *options)
        self.shown["judge"] = done.stdout
        found["judge"] = (done.stdout.split()[0],
                          record.get("reason", "") if record.get("reason", "") in done.stdout else done.stdout, done.returncode)
        return found

    def run_any(self, *arguments, **options):
        done = run(*arguments, **options)
        self.assertIn(done.returncode, (0, 1, 5), done.stdout + done.stderr)
        return done


class Doors(AnswersTest):
    def test_verify_repro_and_judge_decide_alike(self):
        statuses = set()
        for line, options in LINES:
            line = self.prepare(line)
            for what, outputs in self.variants():
                with self.subTest(line=line, options=options, what=what):
                    found = self.decisions(outputs, line, options)
                    self.assertEqual(found["repro"], found["verify"])
                    self.assertEqual(found["judge"], found["verify"])
                    statuses.add(found["verify"][0])
        self.assertEqual(statuses, {"PASSED", "FAILED", "MISTRUSTED", "SKIPPED"})


class OtherClass(AnswersTest):
    def test_what_is_not_declared_is_named(self):
        for saboteur, line, said in (
                ("J2.block", "block_lstm_grad_v2 t5b3i4h7 peep=1 dt=f32 data=strat:0x1",
                 "numerical_contract fp32_strict; passes with fp32_tf32 (claim numerical_contract fp32_tf32)"),
                ("J17.rnn", "cudnn_rnn_backprop t5b3i4h7 mode=lstm dt=f16 data=strat:0x2",
                 "accuracy_class A'; passes with S (claim accuracy_class S)"),
                ("F2.rnn", "cudnn_rnn_backprop t2b5i3h7 mode=relu dir=bi dt=bf16 data=large:0x6e82254c",
                 "relu_slope_at_zero 0; passes with 1 (claim relu_slope_at_zero 1)"),
                ("J9.rnn", "cudnn_rnn_backprop t5b3i4h7 mode=tanh dt=f32 data=strat:0x3",
                 "tanh_absolute 0; passes with 2^-18 (claim tanh_absolute 2^-18)")):
            done = self.expect(1, "verify", f"--impl=saboteur:{saboteur}", "--case", line, "--no-shrink", "-v")
            self.assertIn(f"FAILED with {said}\n", done.stdout, saboteur)

    def test_half_that_passes_with_another_claim_says_so(self):
        line = self.prepare("block_lstm_grad_v2 t5b3i17h4 peep=0 dt=f16 data=strat:0x1f2e")
        outputs = {name: array.astype(self.dtype) for name, array in self.want.items()}
        far = outputs["w_grad"].copy()
        far[2, 3] = self.want["w_grad"][2, 3] + 2 * self.allowed["w_grad"][2, 3]
        while abs(far[2, 3] - self.want["w_grad"][2, 3]) <= 2 * self.allowed["w_grad"][2, 3]:
            far[2, 3] = numpy.nextafter(far[2, 3], numpy.float16(numpy.inf))
        numpy.savez(self.folder / "files.npz", **{**outputs, "w_grad": far})
        judge = ["judge", "--dir", self.case, "--outputs", self.folder / "files.npz"]
        said = re.search(r"\n  FAILED with (\w+) (\S+); passes with (\S+) \((--\S+)\)\n", self.expect(1, *judge).stdout)
        self.assertTrue(said)
        which, claims, passes, option = said.groups()
        self.expect(0, *judge, option)

        answers = self.folder / "answers"
        answers.mkdir()
        for name, array in {**outputs, "w_grad": far}.items():
            (answers / name).write_bytes(array.tobytes())
        environment = {"ANSWERS": str(answers)}
        word = f"FAILED with {which} {claims}; passes with {passes} (claim {which} {passes})"
        self.assertIn(word, self.expect(1, "repro", line, f"--impl={PLUGIN}", environment=environment).stdout)
        out = self.folder / "out"
        done = self.expect(1, "verify", "--case", line, "--no-shrink", f"--impl={PLUGIN}", f"--out={out}",
                           environment=environment)
        self.assertIn(word, done.stdout)
        self.assertEqual(json.loads((out / "records.jsonl").read_text())["passes_as"], word)
        self.assertIn(word, (out / "junit.xml").read_text())
        wider = {**environment, "ANSWERS_CLAIMS": claimed([option])}
        self.expect(0, "repro", line, f"--impl={PLUGIN}", environment=wider)

        far[2, 3] = 1000  # wrong whatever is claimed
        numpy.savez(self.folder / "files.npz", **{**outputs, "w_grad": far})
        self.assertNotIn("passes with", self.expect(1, *judge).stdout)


if __name__ == "__main__":
    unittest.main()
