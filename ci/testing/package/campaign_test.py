# SPDX-License-Identifier: Apache-2.0
"""backgauge.verify: a whole campaign on a function, wherever it was defined. Runs under the interpreter of the native module."""

import functools
import importlib.util
import os
import pathlib
import subprocess
import sys
import threading
import unittest
import xml.etree.ElementTree as xml
from unittest import mock

import backgauge
import numpy as np
from command import CELL, CommandTest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kernels"))
import cells  # noqa: E402 - it lies in the folder that was added
import rnn_tanh  # noqa: E402
import staged_cell  # noqa: E402

OP = "LSTMBlockCellGrad"
NO_PEEPHOLES = {"op": OP, "use_peephole": [False], "cases": [CELL.replace("peep=1", "peep=0")]}
has_cloudpickle = unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "there is no cloudpickle: ci/install-deps --python")


def cell(cs_prev, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    """As somebody writes it into a test."""
    assert not use_peephole
    none = np.zeros(cs.shape[1], cs.dtype)
    return cells.gradient(cs_prev, none, none, none, i, cs, f, o, ci, co, cs_grad, h_grad, False)


class Factor:
    """An object that is called."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, cs_prev, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
        out = cell(cs_prev, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole)
        return {**out, "cs_prev_grad": out["cs_prev_grad"] * np.float32(self.factor)}


class WholeCampaign(unittest.TestCase):
    def test_a_right_function_passes_a_tier(self):
        result = backgauge.verify(cell, op=OP, dtypes=["f32"], tier="smoke", use_peephole=[False])
        self.assertTrue(result.passed and result, result)
        self.assertGreater(result.counts["passed"], 150)
        self.assertEqual(result.counts["failed"], 0)
        self.assertEqual(sum(result.counts.values()), len(result.records))
        self.assertEqual(result.failures, [])
        self.assertIn(f"summary: {result.counts['passed']} passed, 0 failed", result.table)
        self.assertRegex(repr(result), r"^<backgauge.Result: passed; \d+ passed, 0 failed, ")
        xml.fromstring(result.junit)
        self.assertTrue(all(record["isolated"] for record in result.records if record["status"] == "PASSED"))

    def test_what_is_wrong_is_shrunk_and_can_be_run_again(self):
        result = backgauge.verify(cells.gradient, op=OP, dtypes=["f32"], cases=[CELL, CELL.replace("b3", "b4")])
        self.assertTrue(result, result)
        with mock.patch.dict(os.environ, {"BACKGAUGE_TEST_KERNEL": "factor"}):
            result = backgauge.verify(cells.cell, cases=[CELL, CELL.replace("b3", "b4")])
            self.assertFalse(result)
            failure, = result.failures
            self.assertEqual((failure.kind, failure.cases), ("lstm_block_cell_grad cs_prev_grad value", 2))
            self.assertLess(len(failure.line), len(CELL) + 10)
            self.assertRegex(failure.reason, r"cs_prev_grad\[0,0\]: got \S+ want \S+ ratio")
            self.assertEqual(failure.repro, f"backgauge.verify(cell, cases=['{failure.line}'])")
            for text in (result.table, str(failure), result.junit.replace("&apos;", "'")):
                self.assertIn("backgauge.verify(cell, cases=['lstm_block", text)
                self.assertNotIn("/backgauge-", text)
            again = eval(failure.repro, {"backgauge": backgauge, "cell": cells.cell})
            self.assertEqual(again.counts["failed"], 1)

    def test_a_crash_is_the_workers(self):
        for wrong, reason in (("exits", "exit: status 7 in run"), ("crashes", "crash: SIGSEGV in run"), ("hangs", "timeout: ")):
            with mock.patch.dict(os.environ, {"BACKGAUGE_TEST_KERNEL": wrong}):
                result = backgauge.verify(cells.cell, cases=CELL, timeout="2s", shrink=False)
            self.assertEqual(result.counts["broken"], 1, result)
            self.assertIn(reason, result.failures[0].reason)
            self.assertFalse(result)

    def test_nothing_judged_is_not_passed(self):
        result = backgauge.verify(cell, op=OP, cases=CELL.replace("f32", "f16"))
        self.assertEqual(result.counts["skipped"], 1)
        self.assertFalse(result)

    def test_settings_of_a_pipeline_do_not_take_cases_away(self):
        with mock.patch.dict(os.environ, {"BACKGAUGE_SHARD": "2/2", "CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "2", "BACKGAUGE_OPS": "BlockLSTMGradV2",
                                          "BACKGAUGE_ISOLATE": "off", "BACKGAUGE_TIER": "full", "BACKGAUGE_SEED": "7"}):
            result = backgauge.verify(cell, **{**NO_PEEPHOLES, "cases": None}, max_time="5m")
        self.assertIn("1001 cases, tier smoke, seed 1", result.table)


class Sources(CommandTest):
    """Where a function may come from."""

    def judged(self, function, **options):
        return backgauge.verify(function, **{**NO_PEEPHOLES, **options})

    def test_a_file_a_library_and_a_built_in_one(self):
        example = HERE.parents[2] / "impl" / "numpy" / "lstm_block_cell_grad.py"
        self.assertTrue(backgauge.verify(example, cases=CELL))
        self.assertTrue(backgauge.verify("plain", cases=CELL))
        wrong = backgauge.verify("saboteur:A21.block", op="BlockLSTMGradV2", cases="block_lstm_grad_v2 t2b1i1h1 dt=f32 data=strat:0x1")
        self.assertIn("--impl=saboteur:A21.block", wrong.failures[0].repro)
        self.assertIn("dcs' lacks f", wrong.failures[0].hint)

    def test_decorated_functions_with_their_forward(self):
        line = "cudnn_rnn_backprop t3b2i2h2 mode=tanh layers=2 drop=0.5 dt=f32 data=strat:0x1"
        self.assertTrue(backgauge.verify(rnn_tanh.rnn_tanh, cases=line))
        self.assertTrue(backgauge.verify([rnn_tanh.rnn_tanh, cells.cell], cases=[line, CELL]))

    def test_a_function_of_a_script(self):
        script = self.folder / "script.py"
        script.write_text("import sys\nimport backgauge\nfrom cells import gradient\n"
                          "def mine(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):\n"
                          "    return gradient(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole)\n"
                          "if __name__ == '__main__':\n"
                          f"    print(backgauge.verify(mine, op='{OP}', cases='{CELL}').passed)\n")
        environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{HERE.parent / 'kernels'}"}
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
        self.assertEqual(done.stdout, "True\n", done.stderr)

    @has_cloudpickle
    def test_what_no_file_has_at_its_top_level(self):
        factor = 1.0

        def inner(cs_prev, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
            return {name: value * np.float32(factor) for name, value in
                    cell(cs_prev, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole).items()}

        for function in (inner, Factor(1.0), functools.partial(cells.gradient, use_peephole=False), Factor(1.0).__call__,
                         lambda cs_prev, i, cs, f, o, ci, co, cs_grad, h_grad: cell(cs_prev, i, cs, f, o, ci, co, cs_grad, h_grad, 0)):
            with self.subTest(function=function):
                self.assertTrue(self.judged(function))
        factor = 1.001
        self.assertFalse(self.judged(inner))
        self.assertFalse(self.judged(Factor(1.001)))

    @has_cloudpickle
    def test_a_function_of_a_notebook(self):
        program = ("import backgauge\n"
                   "def mine(out):\n    return {name: value * 0 for name, value in out.items()}\n"
                   f"print(backgauge.verify(mine, op='{OP}', cases='{CELL}', shrink=False).counts['failed'])\n")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(done.stdout, "1\n", done.stderr)

    def test_what_cannot_reach_a_worker_is_said(self):
        lock = threading.Lock()
        with mock.patch.dict(sys.modules, {"cloudpickle": None}):
            with self.assertRaisesRegex(backgauge.InputError, "<lambda>: a worker process cannot load it.*install cloudpickle"):
                self.judged(lambda out: None)
        if importlib.util.find_spec("cloudpickle"):
            with self.assertRaisesRegex(backgauge.InputError, "<lambda>: cannot be copied to a worker process: TypeError: .*lock"):
                self.judged(lambda out: lock)


class Staged(unittest.TestCase):
    def test_it_reaches_a_worker_as_it_is(self):
        self.assertTrue(backgauge.verify(staged_cell.cell, cases=CELL))

    def test_lazy_results_are_computed_in_the_time(self):
        class Lazy:
            looks = 0

            def __array__(self, dtype=None, copy=None):
                Lazy.looks += 1
                return np.ones(3, np.float32)

        def staged(h_grad):
            return lambda: {"first": Lazy(), "second": Lazy()}

        outputs = {name: np.zeros(3, np.float32) for name in ("first", "second")}
        call = backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"], staged=True)(staged).prepare("f32", {"h_grad": None}, outputs)
        self.assertEqual(Lazy.looks, 0)
        call.run()
        self.assertEqual(Lazy.looks, 2)
        call.finish()
        self.assertEqual(Lazy.looks, 2)
        self.assertTrue(all((value == 1).all() for value in outputs.values()))


class Refusals(unittest.TestCase):
    def test_each_is_one_sentence(self):
        for expected, target, options in (
                ("op: expected TensorFlow's name", cell, {}),
                ("op: expected one of LSTMBlockCellGrad", cell, {"op": "LSTM"}),
                ("dtypes: expected one of f16, .*, got float32", cell, {"op": OP, "dtypes": ["float32"]}),
                ("dtypes: expected a list of words", cell, {"op": OP, "dtypes": "f32"}),
                ("unknown argument modes", cell, {"op": OP, "modes": ["gru"]}),
                ("expected a function, .*, got 7", 7, {"op": OP}),
                (r"expected a function, .*, got \[\]", [], {}),
                ("cell declares op, dtypes and claims itself", cells.cell, {"dtypes": ["f32"]}),
                ("cell declares op", cells.cell, {"op": "BlockLSTMGradV2"}),
                ("declared in a file", "kernel.py", {"dtypes": ["f32"]}),
                ("there is no file", "/nowhere/kernel.py", {}),
                ("/nowhere/lib.so", "/nowhere/lib.so", {}),
                ("--tier=night: expected smoke, ci or full", cell, {"op": OP, "tier": "night"}),
                ("--seed", cell, {"op": OP, "seed": -1}),
                ("--jobs", cell, {"op": OP, "jobs": 0}),
                ("--max-time", cell, {"op": OP, "max_time": "long"}),
                ("lstm: expected one of lstm_block", cell, {"op": OP, "cases": "lstm b1"}),
                ("^named: parameter hgrad: expected names of LSTMBlockCellGrad", named, {"op": OP})):
            with self.subTest(expected=expected):
                with self.assertRaisesRegex(backgauge.InputError, expected) as caught:
                    backgauge.verify(target, **options)
                self.assertNotIn("\n", str(caught.exception))

    def test_no_command(self):
        with mock.patch.dict(os.environ, {"BACKGAUGE_COMMAND": "/nowhere/backgauge"}):
            with self.assertRaisesRegex(backgauge.InputError, "BACKGAUGE_COMMAND=/nowhere/backgauge: not a program"):
                backgauge.verify(cell, **NO_PEEPHOLES)

    def test_the_command_of_the_build_is_found(self):
        with mock.patch.dict(os.environ):
            built = pathlib.Path(os.environ.pop("BACKGAUGE_COMMAND"))
            from backgauge.command import command
            self.assertTrue(built.samefile(command()))


def named(hgrad):
    """Takes a name that the op has not."""


if __name__ == "__main__":
    unittest.main()
