# SPDX-License-Identifier: Apache-2.0
"""ci/findings on kernels that are wrong on purpose: failures that repeat are called reproduced, others flaky."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]
COMMAND = os.environ["BACKGAUGE_COMMAND"]
LINE = "lstm_block_cell_grad b2i3h5 peep=0 dt=f32 data=plain:0x1"  # judged besides the tier
sys.path.insert(0, str(HERE))
loader = importlib.machinery.SourceFileLoader("findings", str(HERE.parents[1] / "findings"))
findings = importlib.util.module_from_spec(importlib.util.spec_from_loader("findings", loader))
loader.exec_module(findings)


@unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
class FindingsTest(unittest.TestCase):
    def test_malformed_calls_are_counted_by_what_became_of_them(self):
        kind = {"kind": "block_lstm_grad_v2 malformed call", "cases": 2, "status": "FAILED", "text": "accepted", "hint": "", "flaky": False,
                "why": "", "repro": "backgauge repro", "again": 2, "of": 2}
        text = findings.findings_page.malformed({
            "adapter": "impl/some.py", "every": 3, "counts": [["block_lstm_grad_v2", "refused", 5], ["block_lstm_grad_v2", "accepted", 2]],
            "accepted": [f"block_lstm_grad_v2 f32 peephole=1: x: {what}" for what in ("dimension 0 = 2", "dimension 0 = 5", "rank 4")],
            "kinds": [kind]}, None)
        self.assertIn("only one in 3", text)
        self.assertIn("| block_lstm_grad_v2 | 7 | 5 | 2 |", text)
        self.assertIn("| block_lstm_grad_v2 | x | dimension 0 = 2, 5; rank 4 | 3 |", text)
        self.assertIn("**block_lstm_grad_v2 accepted**: 2 cases.", text)

    def test_what_became_of_a_malformed_call(self):
        call = "malformed call block_lstm_grad_v2 f32 peephole=1: seq_len_max: data misaligned by 1"
        for status, reason, want in (("PASSED", "", "refused"), ("FAILED", f"{call}: run accepted a call that must be refused", "accepted"),
                                     ("FAILED", f"{call}: run read memory next to the call", "read memory next to the call"),
                                     ("BROKEN", f"crash: SIGABRT in run, in {call}", "crash: SIGABRT")):
            record = {"status": status, "reason": reason}
            self.assertEqual(findings.outcome(record), want)
            self.assertEqual(bool(findings.accepted(record)), want == "accepted", reason)

    def test_a_run_of_another_adapter_is_forgotten(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "torch")
        for key, kept in (("one", False), ("one", True), ("two", False)):
            findings.forget_others(folder, key)
            self.assertEqual((folder / "records").exists(), kept, key)
            (folder / "records").touch()

    def test_what_the_framework_alone_does_not_show_is_not_explained(self):
        kind = {"kind": "cudnn_rnn_backprop output value", "cases": 2, "status": "FAILED", "text": "wrong", "hint": "", "flaky": False,
                "repro": "backgauge repro", "again": 2, "of": 2}
        line = {"what": "refuses I = 0", "confirmed": True, "seen": "nn.LSTM(0, 1) raises"}
        page = findings.findings_page
        for kinds, lines, want in (
                ([{**kind, "why": "refuses I = 0"}], [line], []),
                ([{**kind, "why": "refuses I = 0"}], [{**line, "confirmed": False}], ["refuses I = 0"]),
                ([{**kind, "why": "refuses I = 0"}, {**kind, "why": ""}], [line], ["cudnn_rnn_backprop output value"])):
            each = {"kinds": kinds, "alone": {"script": "in_some.py", "lines": lines}}
            self.assertEqual(page.unexplained(each), want)
            text = page.findings(each)
            self.assertIn("Without backgauge (`in_some.py`): nn.LSTM(0, 1) raises", text)
            self.assertEqual("**not" in text, bool(want), text)
        for lines, want in (([], [page.NOT_A]), ([{**line, "what": page.NOT_A}], [])):
            each = {"kinds": [], "class_a": {"kinds": [{**kind, "why": ""}]}, "alone": {"script": "in_some.py", "lines": lines}}
            self.assertEqual(page.unexplained(each), want)

    def test_an_adapter_of_a_device_has_a_row_although_there_is_none(self):
        page = findings.findings_page
        text = page.versions([], {"torch-cuda": page.NO_DEVICE, "keras": "not installed"})
        self.assertIn("| torch-cuda | not run: no device |", text)
        self.assertIn("SKIPPED: keras (not installed).", text)
        self.assertNotIn("SKIPPED: torch-cuda", text)

    def test_the_script_of_an_adapter_comes_before_that_of_its_framework(self):
        for name, want in (("torch", "in_torch.py"), ("torch-cuda", "in_torch_cuda.py"), ("tensorflow-function", "in_tensorflow.py")):
            self.assertEqual(findings.script_alone(findings.adapter_of(name)).name, want)

    def test_an_adapter_of_which_nothing_passes_is_seen(self):
        for counts, want in (([], False), ([{"SKIPPED": 3}, {"FAILED": 1, "BROKEN": 1}], False), ([{"SKIPPED": 3}, {"PASSED": 1}], True)):
            self.assertEqual(findings.has_passed({"verdicts": [["op", "f32", each] for each in counts]}), want)

    def judged(self, wrong, known=()):
        """What is found of a kernel, and the page. A second run judges nothing again."""
        home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        os.environ["BACKGAUGE_TEST_KERNEL"] = wrong
        framework = findings.FRAMEWORKS["triton"]._replace(lines=[LINE], known=dict(known))
        adapter = findings.Adapter("ci/testing/kernels/cells.py", HERE.parent / "kernels/cells.py", PYTHON)
        found = findings.judged(COMMAND, "cells", framework, adapter, findings.Extent("smoke"), home)
        records = home / "cells/tier/records.jsonl"
        written = records.stat().st_mtime_ns
        self.assertEqual(findings.judged(COMMAND, "cells", framework, adapter, findings.Extent("smoke"), home), found)
        self.assertEqual(records.stat().st_mtime_ns, written)
        of_tier = [record for record in map(json.loads, records.read_text().splitlines()) if " dt=" in record["id"] and "malformed:" not in record["id"]]
        self.assertEqual(sum(sum(counts.values()) for _, _, counts in found["verdicts"]), len(of_tier) + 1)
        return found, findings.findings_page.page([found], {"keras": "not installed"})

    def test_what_fails_again_is_reproduced(self):
        found, page = self.judged("factor", {"a factor is wrong": lambda record: "cs_prev_grad" in record["kind"]})
        self.assertTrue(found["kinds"])
        self.assertEqual({(kind["again"], kind["flaky"]) for kind in found["kinds"]}, {(2, False)})
        self.assertIn("FAILED, reproduced 2 of 2.", page)
        self.assertIn("Without backgauge: **not looked for yet**.", page)
        self.assertEqual(findings.findings_page.unexplained(found), ["a factor is wrong"])
        self.assertIn("**a factor is wrong**: ", page)
        self.assertIn("SKIPPED: keras (not installed).", page)
        self.assertIn("| smoke |", page)
        self.assertIn("| smoke, 7 of 10 cases |", findings.findings_page.page([{**found, "planned": 10, "not_run": 3}], {}))
        self.assertRegex(page, r"\| cells \| lstm_block_cell_grad \| f32 \| \d+ \| [1-9]\d* \| 0 \|")
        self.assertRegex(page, r"backgauge repro 'lstm_block_cell_grad b\d+i\d+h\d+ .*' --impl=ci/testing/kernels/cells\.py --python=PYTHON")

    def test_what_does_not_fail_again_is_flaky(self):
        _, page = self.judged("answers from a cache")
        self.assertRegex(page, r"flaky, reproduced 0 of 2: it depends on something besides the case")
        self.assertIsNone(re.search(r"reproduced 2 of 2\.", page))


if __name__ == "__main__":
    unittest.main()
