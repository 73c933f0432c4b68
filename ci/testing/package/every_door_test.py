# SPDX-License-Identifier: Apache-2.0
"""Every way to have outputs judged gives the same verdict and the same message: a plug-in under `verify` and `repro`, files under
`judge`, a case in Python, a test of pytest, and inputs of one's own. Runs under the interpreter of the native module."""

import os
import re
import shlex
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

import backgauge
import doors_test
import numpy
from _backgauge import properties
from backgauge.cases import case_of_tier, planned_lines

RECOMPUTED = "the implementation recomputes co, and the saved co differs from tanh(cs)"
# op, dtype and what is declared. The other declarations have their defaults.
DECLARATIONS = [
    *(("BlockLSTMGradV2", "f16", {"accuracy_class": word}) for word in doors_test.WORDS["accuracy_class"]),
    *(("LSTMBlockCellGrad", "f32", {"numerical_contract": word}) for word in doors_test.WORDS["numerical_contract"]),
    *(("BlockLSTMGradV2", "f32", {"recomputes_co": value}) for value in (False, True)),
    ("LSTMBlockCellGrad", "f32", {"recomputes_co": True}),
    *(("CudnnRNNBackprop", "f32", {"relu_slope_at_zero": value}) for value in (False, True)),
    ("CudnnRNNBackprop", "f32", {"masks_per_direction": True}),
    *(("CudnnRNNBackprop", "f32", {name: 2.0**-17}) for name in ("tanh_absolute", "sigmoid_absolute")),
    *(("CudnnRNNBackprop", "f32", {name: 128.0}) for name in ("tanh_ulps", "sigmoid_ulps")),
    ("CudnnRNNBackprop", "f64", {"dropout": False, "rnn_modes": ["gru"], "input_modes": ["linear_input"]}),
]
# Only these change the verdict on outputs; the others say which calls are made, or what is checked besides.
ROUNDING = {row["name"] for row in properties() if row["effect"] == "rounding"}
PYTEST = """
import numpy
import pytest

def outputs(path):
    with numpy.load(path) as file:
        return dict(file)
"""


def is_small(line):
    """Known errors, by the hundreds, are computed for a case that fails: of 30,000 multiplications they take seconds."""
    size = {letter: int(digits) for letter, digits in re.findall(r"([tbih])(\d+)", line.split()[1])}
    return size.get("t", 1) * size["b"] * size["h"] * (size["i"] + size["h"]) < 1000 and not re.search(r" layers=(?!1 )", line)


def judged_cases(op, dtype, claims):
    """(planned line, case) of the first small random cases of a tier: one that is judged, and one that cannot be if co is recomputed."""
    wanted = {"", RECOMPUTED} if claims.get("recomputes_co") else {""}
    for planned in planned_lines(op, dtypes=[dtype], **claims):
        case = case_of_tier(planned, **claims) if "data=strat" in planned and is_small(planned) else None
        if case is not None and case.skip_reason in wanted:
            wanted.remove(case.skip_reason)
            yield planned, case
    assert not wanted, f"{op} {dtype} {claims}: no case for {wanted}"


def options_of(claims):
    """Of `backgauge judge`."""
    named = [(f"--{name.replace('_', '-')}", value) for name, value in claims.items() if name in ROUNDING and value]
    return [name if value is True else f"{name}={value}" for name, value in named]


def without_the_option(text):
    """What the outputs pass with is named in the words of each door."""
    return re.sub(r"(; passes with \S+) \(.*\)", r"\1", text)


def answered(function, *arguments, **options):
    """(word, lines that explain it, the way to repeat it) of a function that raises AssertionError unless outputs conform."""
    try:
        function(*arguments, **options)
    except AssertionError as error:
        head, text, repro = re.fullmatch(r"([^\n]*)\n(.*)  repro: ([^\n]*)", str(error), re.DOTALL).groups()
        return head.split()[1], without_the_option(text), repro
    return "PASSED", "", ""


class EveryDoor(doors_test.AnswersTest):
    def of_own_inputs(self, case, claims, outputs):
        """(word, explanation) of the inputs as arrays of one's own, and of the command that the failure prints."""
        declared = {name: value for name, value in claims.items() if name in ROUNDING}
        word, text, repro = answered(
            backgauge.assert_conforms, case.op, case.inputs, outputs, dropout_keep=case.dropout_keep,
            independent_roundings=not self.facts["structured"], save=self.folder / "kept", **declared, **case.attributes)
        if word == "PASSED":
            return word, text
        program, *words = shlex.split(repro)
        self.assertEqual(program, "backgauge")
        printed = without_the_option(self.run_any(*words).stdout)
        self.assertRegex(printed, rf"^{word} {case.line.split()[0]} .*data=own")
        self.assertTrue(printed.split("\n", 1)[1].startswith(text), printed)
        return word, text

    def of_pytest(self, asked):
        """(word, explanation) of each (planned line, line, claims, file of outputs), as tests of one file."""
        mine = [PYTEST]
        for k, (op, dtype, _, _, claims, file) in enumerate(asked):
            arguments = ", ".join(f"{name}={value!r}" for name, value in {"op": op, "dtypes": [dtype], **claims}.items())
            mine.append(f"@pytest.mark.backgauge({arguments})\ndef test_{k}(case):\n    case.assert_conforms(outputs({str(file)!r}))\n")
        (self.folder / "test_mine.py").write_text("\n\n".join(mine))
        names = [f"test_mine.py::test_{k}[{each[2]}]" for k, each in enumerate(asked)]
        environment = {**os.environ, "PYTEST_ADDOPTS": ""}
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "backgauge.pytest_plugin", "-p", "no:cacheprovider",
                               "--junitxml=results.xml", *names], capture_output=True, text=True, cwd=self.folder, env=environment)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        for k, (test, (_, _, _, line, _, _)) in enumerate(zip(xml.parse(self.folder / "results.xml").iter("testcase"), asked)):
            self.assertTrue(test.get("name").startswith(f"test_{k}["), test.get("name"))
            skipped, failure = test.find("skipped"), test.find("failure")
            if skipped is not None:
                yield "SKIPPED", f"  {skipped.get('message')}\n"
            elif failure is not None:
                message = "\n".join(re.findall(r"^E {7}(.*)$", failure.text, re.MULTILINE))  # the attribute may be cut short
                said = re.match(rf"AssertionError: \w+: (\w+) {re.escape(line)}\n(.*)  repro: ", message, re.DOTALL)
                yield said[1], without_the_option(said[2])
            else:
                yield "PASSED", ""

    def assert_commands_say(self, here, found):
        """verify, repro and judge say what Python says."""
        word, text = here
        for door, (status, reason, _) in found.items():
            self.assertEqual(status, word, door)
            if word != "PASSED":
                self.assertIn(reason, text, door)
        # An implementation whose forward is wrong is not asked for the gradient, so that repro lists fewer outputs.
        for door, head, said in (("repro", f": {word}\n", "".join(text.splitlines(True)[:1])), ("judge", f"{word} ", text)):
            self.assertIn(head, self.shown[door])
            self.assertIn(f"\n{said}", without_the_option(self.shown[door]), door)

    def test_the_same_outputs_get_the_same_verdict_and_message(self):
        expected, asked = [], []
        for op, dtype, claims in DECLARATIONS:
            for planned, case in judged_cases(op, dtype, claims):
                line = self.prepare(case.line)
                for what, outputs in list(self.variants())[::2]:
                    with self.subTest(line=line, claims=claims, what=what):
                        here = answered(case.assert_conforms, outputs)[:2]
                        self.assert_commands_say(here, self.decisions(outputs, line, options_of(claims)))
                        self.assertEqual(self.of_own_inputs(case, claims, outputs), here)
                    file = self.folder / f"{len(asked)}.npz"
                    numpy.savez(file, **outputs)
                    asked.append((op, dtype, planned, line, claims, file))
                    expected.append(here)
        self.assertEqual({name for _, _, claims in DECLARATIONS for name in claims} & ROUNDING, ROUNDING - {"recomputes_forward"})
        self.assertEqual(list(self.of_pytest(asked)), expected)
        self.assertEqual({word for word, _ in expected}, {"PASSED", "FAILED", "SKIPPED"})

    def test_who_recomputes_all_saved_tensors_is_judged_on_training_alone(self):
        words = set()
        for data in ("training", "strat"):
            line = self.prepare(f"block_lstm_grad_v2 t3b2i4h5 peep=0 dt=f32 data={data}:0x2")
            _, outputs = next(self.variants())
            here = answered(backgauge.case(line, recomputes_forward=True).assert_conforms, outputs)[:2]
            self.assert_commands_say(here, self.decisions(outputs, line, ["--recomputes-forward"]))
            words.add(here[0])
        self.assertEqual(words, {"PASSED", "SKIPPED"})


if __name__ == "__main__":
    unittest.main()
