# SPDX-License-Identifier: Apache-2.0
"""The Python package: the oracle and the judge for arrays of one's own. Runs under the interpreter of the native module."""

import ast
import inspect
import json
import os
import pathlib
import shlex
import sys
import unittest
import warnings

import backgauge
import numpy as np
from command import CommandTest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "frameworks"))
import own_nets

GOLDENS = pathlib.Path(os.environ["BACKGAUGE_TEST_GOLDENS"])
SIZES = {"B": 3, "I": 4, "H": 5}


def cell(seed=1, dtype=np.float32):
    """Inputs of LSTMBlockCellGrad."""
    draw = np.random.default_rng(seed)
    shapes = {"x": "BI", "cs_prev": "BH", "h_prev": "BH", "w": None, "wci": "H", "wcf": "H", "wco": "H", "b": None,
              **dict.fromkeys(("i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"), "BH")}
    sizes = {name: tuple(SIZES[k] for k in shape) for name, shape in shapes.items() if shape}
    sizes.update(w=(9, 20), b=(20,))
    return {name: draw.uniform(0.1, 0.9, sizes[name]).astype(dtype) for name in shapes}


class Goldens(unittest.TestCase):
    """What TensorFlow and PyTorch computed conforms, in each of its dtypes; an element that is changed does not."""

    def test_recorded_outputs_conform_and_changed_ones_do_not(self):
        manifest = json.loads((GOLDENS / "manifest.json").read_text())["cases"]
        seen = set()
        for entry in manifest:
            # One of each op and dtype; `backgauge verify` judges all.
            if "nan" in entry["name"] or (entry["op"], entry["dtype"]) in seen:
                continue
            with np.load(GOLDENS / entry["file"]) as file:
                arrays = {name: self.array(file[name], entry["dtype"]) for name in file.files}
            inputs = {name: arrays[name] for name in entry["inputs"]}
            if "seq_len_max" in inputs:
                inputs["seq_len_max"] = int(inputs["seq_len_max"])
            keep = [arrays[name] != 0 for name in entry["extra"] if name.startswith("dropout_mask")]
            outputs = {name: arrays[name] for name in entry["outputs"]}
            accuracy_class = "B" if entry["dtype"] in ("float16", "bfloat16") else "A"
            options = {"accuracy_class": accuracy_class, "dropout_keep": np.array(keep) if keep else None, **entry["attributes"]}
            with self.subTest(case=entry["name"]):
                try:
                    backgauge.assert_conforms(entry["op"], inputs, outputs, **options)
                except AssertionError as error:
                    self.assertIn("MISTRUSTED", str(error))  # the rigorous bound of class B may prove nothing
                    continue
                seen.add((entry["op"], entry["dtype"]))
                name = next(name for name in outputs if outputs[name].size)
                outputs[name] = outputs[name] + np.ones_like(outputs[name])
                with self.assertRaisesRegex(AssertionError, rf"FAILED\n +tensor {name}\["):
                    backgauge.assert_conforms(entry["op"], inputs, outputs, **options)
        for pair in (("LSTMBlockCellGrad", "float16"), ("LSTMBlockCellGrad", "float32"), ("BlockLSTMGradV2", "float32"),
                     ("CudnnRNNBackprop", "float32"), ("CudnnRNNBackprop", "float64"), ("CudnnRNNBackprop", "bfloat16")):
            self.assertIn(pair, seen)

    @staticmethod
    def array(values, dtype):
        if values.dtype == "V2":
            import ml_dtypes
            return values.view(ml_dtypes.bfloat16)
        return values


class Oracle(unittest.TestCase):
    def test_the_answer_is_that_of_the_equation(self):
        inputs = cell()
        want, allowed = backgauge.oracle("LSTMBlockCellGrad", inputs, use_peephole=False)
        self.assertEqual(list(want), ["cs_prev_grad", "dicfo", "wci_grad", "wcf_grad", "wco_grad"])
        wide = {name: value.astype(np.float64) for name, value in inputs.items()}
        dcs = (1 - wide["co"] ** 2) * wide["h_grad"] * wide["o"] + wide["cs_grad"]
        np.testing.assert_allclose(want["cs_prev_grad"], dcs * wide["f"], rtol=1e-14)
        self.assertTrue((allowed["cs_prev_grad"] > 0).all() and (allowed["cs_prev_grad"] < 1e-5).all())
        self.assertTrue((want["wci_grad"] == 0).all() and (allowed["wci_grad"] == 0).all())

    def test_independent_roundings_allow_less_where_the_rigorous_bound_proves_something(self):
        draw = np.random.default_rng(2)
        for T, ratio in ((3, 0.5), (30, 1)):
            B, H = 4, 16
            inputs = {"input": draw.normal(size=(T, B, H)), "input_h": draw.normal(size=(1, B, H)),
                      "params": draw.normal(size=2 * H * H + 2 * H) / 4, "output_backprop": draw.normal(size=(T, B, H)),
                      "output_h_backprop": draw.normal(size=(1, B, H))}
            inputs = {name: value.astype(np.float32) for name, value in inputs.items()}
            _, default = backgauge.oracle("CudnnRNNBackprop", inputs, rnn_mode="rnn_tanh")
            _, likely = backgauge.oracle("CudnnRNNBackprop", inputs, rnn_mode="rnn_tanh", independent_roundings=True)
            with self.subTest(T=T):
                median = np.median(likely["params_backprop"] / default["params_backprop"])
                self.assertEqual(median, 1) if ratio == 1 else self.assertLess(median, ratio)

    def test_what_is_not_read_may_be_left_out(self):
        inputs = cell()
        want, _ = backgauge.oracle("LSTMBlockCellGrad", inputs)
        for name in ("x", "h_prev", "w", "b", "wci", "wcf", "wco", "cs"):
            del inputs[name]
        again, _ = backgauge.oracle("LSTMBlockCellGrad", inputs)
        for name in want:
            np.testing.assert_array_equal(want[name], again[name])

    def test_arrays_of_other_libraries_are_read(self):
        class OnlyDlpack:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        want, _ = backgauge.oracle("LSTMBlockCellGrad", cell())
        again, _ = backgauge.oracle("LSTMBlockCellGrad", {name: OnlyDlpack(value) for name, value in cell().items()})
        np.testing.assert_array_equal(want["dicfo"], again["dicfo"])


class OwnNets(unittest.TestCase):
    """Without a declaration, and with values for which only a declaration helps."""

    def setUp(self):
        self.inputs = own_nets.drawn("gru", (100, 8, 8, 16), 3)
        self.same = {**self.inputs, "input": self.inputs["input"][:, :1].repeat(8, 1)}

    def judged(self, inputs, outputs, **options):
        backgauge.assert_conforms("CudnnRNNBackprop", inputs, outputs, rnn_mode="gru", **options)

    def test_a_net_is_judged(self):
        right = own_nets.gradients("gru", self.inputs)
        self.judged(self.inputs, right)
        with self.assertRaisesRegex(AssertionError, "FAILED") as caught:
            self.judged(self.inputs, {name: np.zeros_like(value) for name, value in right.items()})
        self.assertNotIsInstance(caught.exception, backgauge.NothingProven)

    def test_nothing_proven_is_an_error_of_its_own_that_says_what_to_declare(self):
        declare = "because values of input repeat up to 8 times: .* declare independent_roundings"
        right = own_nets.gradients("gru", self.same)
        for outputs in (right, {**right, "params_backprop": np.zeros_like(right["params_backprop"])}):
            with self.assertRaisesRegex(backgauge.NothingProven, f"(?s)MISTRUSTED.*{declare}") as caught:
                self.judged(self.same, outputs)
            self.assertEqual(caught.exception.exit_code, 5)
        self.judged(self.same, right, independent_roundings=True)
        with self.assertWarnsRegex(UserWarning, f"the allowed errors of .* prove nothing; .*{declare}"):
            backgauge.oracle("CudnnRNNBackprop", self.same, rnn_mode="gru")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            backgauge.oracle("CudnnRNNBackprop", self.inputs, rnn_mode="gru")


class Elsewhere:
    """An array that NumPy cannot reach."""

    def __dlpack__(self, **options):
        raise BufferError("on another device")

    def __dlpack_device__(self):
        return (8, 0)  # Metal


class Repro(CommandTest):
    def test_a_failure_can_be_kept_and_judged_again(self):
        inputs = cell(dtype=np.float16)
        want, allowed = backgauge.oracle("LSTMBlockCellGrad", inputs, accuracy_class="B")
        outputs = {name: value.astype(np.float16) for name, value in want.items()}
        backgauge.assert_conforms("LSTMBlockCellGrad", inputs, outputs, accuracy_class="B", save=self.folder / "kept")
        self.assertFalse((self.folder / "kept").exists())
        outputs["dicfo"] = 2 * outputs["dicfo"]
        for _ in range(2):
            with self.assertRaises(AssertionError) as caught:
                backgauge.assert_conforms("LSTMBlockCellGrad", inputs, outputs, accuracy_class="B", save=self.folder / "kept")
            _, *explained, repro = str(caught.exception).splitlines()
            program, *words = shlex.split(repro.removeprefix("  repro: "))
            self.assertEqual(program, "backgauge")
            done = self.expect(1, *words)
            self.assertRegex(explained[0], r"^  tensor dicfo\[\d,\d+\]: got")
            for line in explained:
                self.assertIn(f"{line}\n", done.stdout)
        with self.assertRaisesRegex(AssertionError, 'repro: save="FOLDER" keeps inputs and outputs'):
            backgauge.assert_conforms("LSTMBlockCellGrad", inputs, outputs)
        with self.assertRaisesRegex(backgauge.InputError, "save: .*/dev/null"):
            backgauge.assert_conforms("LSTMBlockCellGrad", inputs, outputs, save="/dev/null/x")


class Types(unittest.TestCase):
    def test_the_stub_has_what_the_native_module_has(self):
        import _backgauge
        stub = ast.parse((pathlib.Path(__file__).parents[2] / "python" / "_backgauge.pyi").read_text())
        functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
        classes = {node.name: {each.name for each in node.body} - {"__init__"} for node in stub.body if isinstance(node, ast.ClassDef)}
        self.assertEqual({name for name in vars(_backgauge) if not name.startswith("_")}, functions | classes.keys())
        for name, members in classes.items():
            self.assertEqual({each for each in vars(getattr(_backgauge, name)) if not each.startswith("_")}, members)

    def test_the_public_functions_are_annotated(self):
        self.assertTrue((pathlib.Path(backgauge.__file__).parent / "py.typed").exists())
        for name in ("assert_conforms", "case", "cases", "implements", "oracle", "verify"):
            signature = inspect.signature(getattr(backgauge, name))
            for parameter in [*signature.parameters.values(), signature]:
                self.assertIsNot(getattr(parameter, "annotation", signature.return_annotation), inspect.Parameter.empty, f"{name}: {parameter}")

    def test_errors_are_one_hierarchy(self):
        for error in (backgauge.InputError, backgauge.HarnessError):
            self.assertTrue(issubclass(error, backgauge.Error))
        self.assertTrue(issubclass(backgauge.InputError, ValueError))


class Refusals(unittest.TestCase):
    def refused(self, expected, change=None, op="LSTMBlockCellGrad", **options):
        inputs = cell()
        if change:
            change(inputs)
        with self.assertRaisesRegex(backgauge.InputError, expected):
            backgauge.oracle(op, inputs, **options)

    def test_each_names_the_tensor_what_was_expected_and_what_came(self):
        def put(name, value):
            return lambda inputs: inputs.update({name: value})

        f32 = np.float32
        self.refused("op: expected one of LSTMBlockCellGrad, .*, got LSTM", op="LSTM")
        self.refused("cs_prev: missing", lambda inputs: inputs.pop("cs_prev"))
        self.refused(r"i: missing; expected shape \[3, 5\]", lambda inputs: inputs.pop("i"))
        self.refused(r"i: expected shape \[3, 5\], got \[3, 6\]", put("i", np.zeros((3, 6), f32)))
        self.refused(r"cs_prev: expected 2 dimensions, got \[3\]", put("cs_prev", np.zeros(3, f32)))
        self.refused(r"wci: expected shape \[5\], got \[\]", put("wci", f32(1)))
        self.refused("dtype|expected f32", put("i", np.zeros((3, 5), np.float64)))
        self.refused("i: expected one of float16, bfloat16, float32, float64, got int32", put("i", np.zeros((3, 5), np.int32)))
        self.refused("i: expected one of float16, .*, got complex64", put("i", np.zeros((3, 5), np.complex64)))
        self.refused("i: expected one of float16, .*, got <U1", put("i", np.array("a")))
        self.refused("hgrad: LSTMBlockCellGrad has no such input", put("hgrad", np.zeros((3, 5), f32)))
        self.refused("use_peepholes: LSTMBlockCellGrad has no such attribute; it has use_peephole", use_peepholes=True)
        self.refused("accuracy_class: expected one of A, A', S, B, got C", accuracy_class="C")
        self.refused("numerical_contract: expected one of fp32_strict, .*, got fast", numerical_contract="fast")
        self.refused("i: NumPy cannot read it: ValueError", put("i", [[1.0], [1.0, 2.0]]))
        self.refused("i: NumPy cannot read it: BufferError: on another device", put("i", Elsewhere()))
        self.refused("i: expected one of float16, .*, got object", put("i", np.array([None])))
        self.refused("seq_len_max: LSTMBlockCellGrad has no such input", put("seq_len_max", 3))
        self.refused("sequence_lengths: LSTMBlockCellGrad has no such input", put("sequence_lengths", np.ones(3, int)))
        self.refused("use_peephole: expected true or false, got None", use_peephole=None)
        self.refused("seq_len_max: expected a whole number, int64, got f64", lambda inputs: inputs.update(seq_len_max=2.5), op="BlockLSTMGradV2")
        self.refused(r"seq_len_max: expected 0 dimensions, got \[1\]", lambda inputs: inputs.update(seq_len_max=np.ones(1, int)),
                     op="BlockLSTMGradV2")
        self.refused("has no dtype f64", lambda inputs: inputs.update(cell(dtype=np.float64)))

    def test_what_is_no_dict_of_arrays(self):
        for expected, inputs, outputs in (("inputs: expected a dict of arrays by name, got list", [], {}),
                                          ("inputs: expected names of tensors, got 1", {1: np.zeros(1)}, {}),
                                          ("outputs: expected a dict of arrays by name, got ndarray", cell(), np.zeros(1)),
                                          ("dicfo: expected one of float16", cell(), {"dicfo": np.array("a")})):
            with self.subTest(expected=expected), self.assertRaisesRegex(backgauge.InputError, expected):
                backgauge.assert_conforms("LSTMBlockCellGrad", inputs, outputs)

    def test_those_of_nets(self):
        draw = np.random.default_rng(3)
        good = {"input": (2, 3, 4), "input_h": (2, 3, 5), "params": (140,), "output_backprop": (2, 3, 5), "output_h_backprop": (2, 3, 5)}

        def refused(expected, change=(), rnn_mode="rnn_tanh", **attributes):
            inputs = {name: draw.normal(size=shape).astype(np.float32) for name, shape in {**good, **dict(change)}.items()}
            with self.assertRaisesRegex(backgauge.InputError, expected):
                backgauge.oracle("CudnnRNNBackprop", inputs, rnn_mode=rnn_mode, **attributes)

        refused(r"params: expected shape \[115\], got \[140\]")
        refused(r"input_h: expected layers \* 2 rows, got \[1, 3, 5\]", {"input_h": (1, 3, 5)}, direction="bidirectional")
        refused("rnn_mode: expected one of rnn_relu, .*, got elman", rnn_mode="elman")
        refused("direction: expected one of unidirectional, bidirectional, got both", direction="both")
        refused("dropout: expected a number, got half", dropout="half")
        refused("dropout", {"params": (115,)}, dropout=1.5)
        refused(r"dropout_keep: expected the masks, \[1, 2, 3, 5\], got none", {"params": (115,)}, dropout=0.5)
        masks = np.ones((1, 2, 3, 5))
        for value, got in ((0.5, "0.5"), (256, "256"), (-1, "-1"), (np.nan, "nan"), (255, "255")):
            masks[0, 1, 2, 3] = value
            refused(f"dropout_keep: expected 1 where an element is kept and 0 where it is dropped, got {got}", {"params": (115,)}, dropout=0.5,
                    dropout_keep=masks)
        refused("dropout_keep: NumPy cannot read it", {"params": (115,)}, dropout=0.5, dropout_keep=[[1], [1, 0]])
        refused("sequence_lengths: CudnnRNNBackprop has no such input; it has input, input_h, ", {"sequence_lengths": (3,)})
        refused("input_c: missing|input_c", {"params": (460,)}, rnn_mode="lstm")
        refused("input", {"params": (115,)}, input_mode="skip_input")


if __name__ == "__main__":
    unittest.main()
