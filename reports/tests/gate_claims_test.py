# SPDX-License-Identifier: Apache-2.0
"""`backgauge gate`: claims of head against those of base; how implementations are run by every program that the gate starts."""

import json
import unittest

from backgauge import errors
from backgauge.claims import by_op, looser
from gate_test import NEW, OLD, GateTest

BLOCK = {"op": "block_lstm_grad_v2", "dtypes": ["f16", "f32"], "accuracy_class": {"f16": "A"}, "numerical_contract": {"f32": "fp32_strict"},
         "determinism": "bitwise", "not_claimed": [], "text": "any"}
CUDNN = {"op": "cudnn_rnn_backprop", "dtypes": ["f32"], "numerical_contract": "fp32_strict", "determinism": "bitwise", "dropout": True,
         "rnn_mode": ["lstm", "gru"], "greatest_H": 512, "recomputes_co": False, "not_claimed": [], "text": "any"}
LOOSER = {
    "fewer ops": ([BLOCK], "cudnn_rnn_backprop is not claimed any more"),
    "fewer dtypes": ([BLOCK | {"dtypes": ["f32"]}, CUDNN], "block_lstm_grad_v2: f16 is not claimed any more"),
    "class": ([BLOCK | {"accuracy_class": "B"}, CUDNN], "block_lstm_grad_v2: accuracy class A -> B in f16"),
    "contract": ([BLOCK, CUDNN | {"numerical_contract": "bf16_acc32"}], "numerical contract fp32_strict -> bf16_acc32 in f32"),
    "unknown word": ([BLOCK, CUDNN | {"numerical_contract": "int8"}], "numerical contract fp32_strict -> int8 in f32"),
    "determinism": ([BLOCK, CUDNN | {"determinism": "not_deterministic"}], "determinism bitwise -> not_deterministic in f32"),
    "dropout": ([BLOCK, CUDNN | {"dropout": False}], "dropout true -> false in f32"),
    "modes": ([BLOCK, CUDNN | {"rnn_mode": ["gru"]}], 'rnn mode ["lstm", "gru"] -> ["gru"] in f32'),
    "limit": ([BLOCK, CUDNN | {"greatest_H": 256}], "greatest H 512 -> 256 in f32"),
    "new limit": ([BLOCK | {"multiple_of_H": 8}, CUDNN], "multiple of H not claimed -> 8 in f16, f32"),
    "error": ([BLOCK | {"tanh_absolute": {"f32": 0.001}}, CUDNN], "tanh absolute not claimed -> 0.001 in f32"),
    "flag": ([BLOCK, CUDNN | {"recomputes_co": True}], "recomputes co false -> true in f32")}
STRICTER = [[BLOCK, CUDNN], [BLOCK | {"dtypes": ["bf16", "f16", "f32"], "accuracy_class": {"f16": "A", "bf16": "B"}}, CUDNN],
            [BLOCK, {key: value for key, value in CUDNN.items() if key != "greatest_H"}], [BLOCK, CUDNN | {"greatest_H": 1024}],
            [BLOCK, CUDNN | {"rnn_mode": ["lstm", "gru", "rnn_tanh"]}], [BLOCK, CUDNN, BLOCK | {"op": "lstm_block_cell_grad"}],
            [BLOCK, CUDNN | {"dtypes": ["f16", "f32"], "accuracy_class": "B"}]]


class LooserTest(unittest.TestCase):
    def test_what_is_looser_and_what_is_not(self):
        for name, (head, line) in LOOSER.items():
            found, = looser(by_op([BLOCK, CUDNN]), by_op(head))
            self.assertIn(line, found, name)
            # The other way it is stricter, unless nobody knows how strict it was.
            self.assertEqual(len(looser(by_op(head), by_op([BLOCK, CUDNN]))), 1 if name == "unknown word" else 0, name)
        for head in STRICTER:
            self.assertEqual(looser(by_op([BLOCK, CUDNN]), by_op(head)), [])


class ClaimsTest(GateTest):
    def of(self, head, policy="", base=(BLOCK, CUDNN)):
        self.bench(context={f"claims/{OLD}": json.dumps(list(base)), f"claims/{NEW}": json.dumps(head)})
        return self.gate(policy)

    def test_looser_claims_are_red_unless_the_policy_allows_them(self):
        for name, (head, line) in LOOSER.items():
            with self.subTest(name):
                code, _, found = self.of(head)
                self.assertEqual(code, errors.FAILED)
                self.assertIn(line, found["findings"][0]["why"])
                self.assertEqual(self.of(head, '[claims]\nlooser = "allow"\n')[0], errors.GOOD)
        for head in STRICTER:
            self.assertEqual(self.of(head)[0], errors.GOOD)

    def test_terms_of_an_older_run_that_differ_cannot_be_ordered(self):
        terms = {f"terms/{OLD}/block_lstm_grad_v2": "accuracy class A", f"terms/{NEW}/block_lstm_grad_v2": "accuracy class B"}
        self.bench(context=terms)
        code, _, found = self.gate()
        self.assertEqual((code, found["findings"][0]["where"]), (errors.INCONCLUSIVE, "claims"))
        self.assertEqual(self.gate('[claims]\nlooser = "allow"\n')[0], errors.GOOD)

    def test_claims_that_cannot_be_read(self):
        for text in ("[", "{}", "[1]", '[{"op": "x"}]', "[" * 100_000, '[], "claims": []'):
            self.bench(context={f"claims/{OLD}": text, f"claims/{NEW}": "[]"})
            with self.assertRaisesRegex(errors.CommandError, "claims of cpu: not as backgauge bench writes them"):
                self.gate()


class IsolationTest(GateTest):
    GIVEN = ("--untrusted", "--timeout=9", "--memory-limit", "1G", "--isolate=on", "--python=/usr/bin/python3")

    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    def test_every_program_gets_the_options(self):
        self.gate("", *self.GIVEN)
        calls = self.calls()
        self.assertEqual({call.split()[0] for call in calls}, {"verify", "bench"})
        for call in calls:
            for word in self.GIVEN:
                self.assertIn(word, call.split(), call)

    def test_counts_too_unless_they_cannot_be_confined(self):
        self.count()
        self.bench(slower=self.slower(1.02))
        always = '[instructions]\ndecides = "always"\n'
        self.gate(always, *self.GIVEN[1:])
        counted, = [call for call in self.calls() if "--measure=instructions" in call]
        for word in self.GIVEN[1:]:
            self.assertIn(word, counted.split())
        (self.folder / "calls").unlink()
        _, _, found = self.gate(always, *self.GIVEN)
        self.assertFalse(any("--measure=instructions" in call for call in self.calls()))
        self.assertIn("cannot be confined", found["instructions"]["reason"])

    def test_a_saved_baseline_as_well(self):
        saved = self.folder / "saved.json"
        saved.write_text((self.folder / "run.json").read_text())
        self.gate("", f"--baseline={saved}", *self.GIVEN)
        bench, = [call for call in self.calls() if call.startswith("bench")]
        for word in self.GIVEN:
            self.assertIn(word, bench.split())

    def test_what_was_loaded_and_refused_is_in_the_summary(self):
        self.write("summary.json", json.dumps(json.loads((self.folder / "summary.json").read_text())
                                              | {"remarks": ["untrusted: confined; loads libx.so; was refused socket"]}))
        self.bench(context={f"untrusted/{NEW}": "untrusted: confined; loads liby.so"})
        _, _, found = self.gate("", "--untrusted")
        self.assertEqual(found["untrusted"], ["verify: untrusted: confined; loads libx.so; was refused socket",
                                              "bench, head: untrusted: confined; loads liby.so"])
        text = (self.folder / "out" / "summary.md").read_text()
        self.assertIn("loads libx.so; was refused socket", text)
        self.assertIn("loads liby.so", text)


if __name__ == "__main__":
    unittest.main()
