# SPDX-License-Identifier: Apache-2.0
"""backgauge.cases: the inputs that the command writes for the same lines. Runs under the interpreter of the native module."""

import json
import re
import unittest

import backgauge
import numpy as np
from backgauge.cases import case_of_tier, planned_lines
from backgauge.native import native
from command import CELL, CommandTest

OPS = ["LSTMBlockCellGrad", "BlockLSTMGradV2", "CudnnRNNBackprop"]
DROPOUT = "cudnn_rnn_backprop t4b3i5h4 mode=lstm dir=bi layers=3 in=linear drop=0.5 dt=f32 data=strat:0x3c51"
LINES = [CELL, CELL.replace("f32", "f16"), DROPOUT, DROPOUT.replace("lstm", "gru").replace("f32", "bf16"),
         "block_lstm_grad_v2 t5b3i17h4 peep=1 clip=0.5 seq=3 dt=f32 data=nan:0x1f2e",
         "block_lstm_grad_v2 t5b3i4h7 peep=0 seq=3 dt=f32 data=golden:block_f32_tail",
         "block_lstm_grad_v2 t3b0i3h5 peep=1 seq=0 dt=f32 data=strat:0x3", DROPOUT.replace("0.5", "1")]
WIDTH = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def right(case):
    """The oracle's outputs, rounded once."""
    dtype = next(value for value in case.inputs.values() if not isinstance(value, int)).dtype
    with np.errstate(all="ignore"):
        return {name: want.astype(dtype) for name, want in case.oracle()[0].items()}


class SameAsTheCommand(CommandTest):
    def test_bits_masks_attributes_and_answers(self):
        for k, line in enumerate(LINES):
            with self.subTest(line=line):
                folder = self.folder / str(k)
                self.expect(0, "oracle", "--case", line, "--dir", folder)
                document = json.loads((folder / "case.json").read_text())
                arrays = {(entry["role"], entry["name"]): np.load(folder / entry["file"]) for entry in document["tensors"]}
                case = backgauge.case(line)
                self.assertEqual(case.line, document["case"])
                self.assertEqual(case.op, document["tensorflow"])
                inputs = {name for role, name in arrays if role == "input"}
                self.assertEqual(set(case.inputs), inputs)
                for name in inputs:
                    self.assert_same_bits(case, name, case.inputs[name], arrays["input", name])
                for name, want in case.oracle()[0].items():
                    np.testing.assert_array_equal(want, arrays["want", name])
                    np.testing.assert_array_equal(case.oracle()[1][name], arrays["allowed", name])
                masks = [array for (role, _), array in sorted(arrays.items()) if role == "dropout_mask"]
                if masks:
                    np.testing.assert_array_equal(case.dropout_keep, np.array(masks))
                else:
                    self.assertIsNone(case.dropout_keep)
                for name, value in document["attributes"].items():
                    shown = case.attributes[name]
                    self.assertIn(str(value), str(shown))

    def assert_same_bits(self, case, name, got, written):
        if name == "seq_len_max":
            self.assertEqual(got, int(written))
            return
        self.assertEqual(got.shape, written.shape)
        bits = WIDTH[case.dtype]
        np.testing.assert_array_equal(got.view(bits), written.view(bits), err_msg=name)

    def test_the_lines_are_those_that_verify_judges(self):
        listed = self.expect(0, "list", "--cases", "--ops=LSTMBlockCellGrad", "--tier=smoke").stdout.splitlines()
        drawn = [case.line for case in backgauge.cases("LSTMBlockCellGrad")]
        self.assertEqual(drawn[-len(listed):], listed)  # regressions and goldens come first


class Cases(CommandTest):
    def test_every_case_takes_right_outputs_and_refuses_wrong_ones(self):
        for op, step in zip(OPS, (20, 20, 50)):
            wrong = 0
            for case in map(case_of_tier, planned_lines(op)[::step]):
                with self.subTest(line=case.line):
                    outputs = right(case)
                    case.assert_conforms(outputs)
                    name = max(outputs, key=lambda each: outputs[each].size)
                    allowed = case.oracle()[1][name]
                    if not (np.isfinite(allowed) & (allowed > 0)).any():
                        continue
                    outputs[name] = -outputs[name]
                    with self.assertRaises(AssertionError) as caught:
                        case.assert_conforms(outputs)
                    self.assertRegex(str(caught.exception), rf"^{op}: FAILED {op_word(case.line)} [^\n]*chk=[^\n]*\n")
                    self.assertIn(f"\n  repro: backgauge.case('{case.line}').assert_conforms(outputs)", str(caught.exception))
                    wrong += 1
            self.assertGreater(wrong, 5, op)

    def test_they_repeat_and_the_seed_changes_them(self):
        first = [case.line for case in backgauge.cases("LSTMBlockCellGrad", dtypes=["f32"])]
        self.assertEqual(first, [case.line for case in backgauge.cases("LSTMBlockCellGrad", dtypes=["f32"])])
        self.assertNotEqual(first, [case.line for case in backgauge.cases("LSTMBlockCellGrad", dtypes=["f32"], seed=2)])

    def test_claims_restrict_them(self):
        lines = [case.line for case in backgauge.cases("CudnnRNNBackprop", dtypes=["f64"], rnn_modes=["gru"], dropout=False,
                                                       directions=["unidirectional"], input_modes=["linear_input"])]
        self.assertGreater(len(lines), 5)
        for line in lines:
            self.assertRegex(line, r"mode=gru dir=uni .*in=linear .*dt=f64|mode=gru dir=uni .*in=linear.*golden")
            self.assertNotRegex(line, r"layers=[2-9].* drop=0\.")
        lines = [case.line for case in backgauge.cases("BlockLSTMGradV2", use_peephole=[False])]
        self.assertTrue(lines and all("peep=0" in line for line in lines))

    def test_the_forward_is_that_of_numpy(self):
        case = backgauge.case("cudnn_rnn_backprop t4b3i5h4 mode=tanh layers=1 dt=f64 data=strat:0x3c51")
        I, H = 5, 4
        params, h = case.inputs["params"], case.inputs["input_h"][0]
        W, R = params[:H * I].reshape(H, I), params[H * I:H * (I + H)].reshape(H, H)
        bias = params[H * (I + H):].reshape(2, H).sum(0)
        for t, x in enumerate(case.inputs["input"]):
            h = np.tanh(x @ W.T + h @ R.T + bias)
            np.testing.assert_allclose(case.forward["output"][t], h, rtol=1e-12)
        np.testing.assert_array_equal(case.forward["output_h"][0], case.forward["output"][-1])
        self.assertEqual(set(case.forward), {"output", "output_h"})
        self.assertEqual(backgauge.case(CELL).forward, {})

    def test_accuracy_classes_are_those_of_the_claims(self):
        line = "block_lstm_grad_v2 t5b3i17h4 peep=0 dt=f16 data=strat:0x1f2e"
        narrow, wide = backgauge.case(line), backgauge.case(line, accuracy_class="B")
        self.assertTrue((wide.oracle()[1]["w_grad"] > 2 * narrow.oracle()[1]["w_grad"]).any())
        self.assertIn("accuracy_class='B'", wide.repro)
        of_half = backgauge.case(line, accuracy_class={"f16": "B"}, multiple_of_H=2)
        self.assertTrue((of_half.oracle()[1]["w_grad"] == wide.oracle()[1]["w_grad"]).all())
        self.assertIn("accuracy_class={'f16': 'B'}", of_half.repro)
        self.assertNotIn("multiple_of_H", of_half.repro)

    def test_limits_leave_cases_out(self):
        lines = [case.line for case in backgauge.cases("LSTMBlockCellGrad", dtypes=["f32"], multiple_of_H=2, greatest_B=3)]
        self.assertTrue(lines)
        for line in lines:
            batch, units = map(int, re.search(r" b(\d+)i\d+h(\d+) ", line).groups())
            self.assertTrue(batch <= 3 and units % 2 == 0, line)

    def test_python_knows_the_properties_of_the_command(self):
        listed = json.loads(self.expect(0, "list", "--format=json").stdout)["properties"]
        self.assertEqual(native().properties(), [{key: each[key] for key in ("name", "effect", "documentation")} for each in listed])
        for each in listed:
            with self.subTest(each["name"]), self.assertRaisesRegex(backgauge.InputError, f"implements: {each['name']}: expected"):
                backgauge.implements("CudnnRNNBackprop" if "cudnn_rnn_backprop" in each["ops"] else "LSTMBlockCellGrad",
                                     **{"dtypes": ["f32"], each["name"]: object()})

    def test_a_case_that_can_prove_nothing_says_so(self):
        reasons = [backgauge.case(f"{CELL[:-4]}{seed:x}", recomputes_co=True).skip_reason for seed in range(20)]
        self.assertEqual(set(reasons), {"", "the implementation recomputes co, and the saved co differs from tanh(cs)"})

    def test_what_is_wrong_is_said_before_the_first_case(self):
        for expected, arguments in (
                ("op: expected one of LSTMBlockCellGrad, .*, got LSTM", {"op": "LSTM"}),
                ("cases: expected words for op and tier, got 7", {"op": 7}),
                ("--tier=night: expected smoke, ci or full", {"tier": "night"}),
                ("seed: expected a whole number", {"seed": -1}),
                ("seed: expected a whole number", {"seed": "1"}),
                ("dtypes: expected a list of words, got 'f32'", {"dtypes": "f32"}),
                (r"dtypes: expected a list of words, got \[\]", {"dtypes": []}),
                ("dtypes: expected one of f16, f32, f64, i64, bf16, got float32", {"dtypes": ["float32"]}),
                ("cases: dtypes: LSTMBlockCellGrad has f16, f32", {"dtypes": ["f64"]}),
                ("cases: unknown argument modes; LSTMBlockCellGrad has dtypes, use_peephole", {"modes": ["gru"]}),
                ("use_peephole: expected a list of bools, got True", {"use_peephole": True}),
                ("accuracy_class: expected one of A, A', S, B, got C", {"accuracy_class": "C"}),
                ("recomputes_co: expected True or False, got 1", {"recomputes_co": 1})):
            with self.subTest(expected=expected), self.assertRaisesRegex(backgauge.InputError, expected):
                backgauge.cases(**{"op": "LSTMBlockCellGrad", **arguments})
        for expected, line in (("lstm_block", "lstm_block"), ("malformed call", "lstm_block_cell_grad b1i1h1 dt=f32 data=malformed:0x1"),
                               ("chk", CELL + " chk=0000"), ("memory", CELL.replace("b3i5h7", "b100000i1h10000000")),
                               ("expected a case line, got None", None)):
            with self.subTest(line=line), self.assertRaisesRegex(backgauge.InputError, expected):
                backgauge.case(line)
        case = backgauge.case(CELL)
        with self.assertRaisesRegex(backgauge.InputError, "outputs: expected a dict of arrays by name, got list"):
            case.assert_conforms([1])
        with self.assertRaisesRegex(backgauge.InputError, "dicfo: NumPy cannot read it"):
            case.assert_conforms({"dicfo": [[1], [1, 2]]})


def op_word(line):
    return line.split()[0]


if __name__ == "__main__":
    unittest.main()
