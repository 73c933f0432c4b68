# SPDX-License-Identifier: Apache-2.0
"""`backgauge gate` with a program in place of verify and bench: every verdict, every word of the policy, every file."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest
import unittest.mock

from backgauge import errors
from backgauge.gate import counts
from backgauge.gate.__main__ import main
from backgauge.gate.policy import read_policy
from synthetic import Noise, Synthetic, block_line

LINES = [block_line(f"t40b{b}i{h}h{h}") for b in (1, 8, 32) for h in (128, 512)]
CALM = Noise(spread=0.004, drift=0.005, hit=0.03, hit_size=0.3, offset=0.003)
OLD, AGAIN, NEW = "cpu", "cpu#2", "mine"
PROGRAM = """#!/bin/sh
for word in "$@"; do case $word in --out=*) out=${word#--out=};; --measure=instructions) counting=1;; esac; done
echo "$@" >> FOLDER/calls
case $1 in
  verify) mkdir -p $out; cp FOLDER/summary.json $out/; exit VERIFY;;
  bench) if [ -n "$counting" ]; then COUNT; fi
         cp FOLDER/run.json $out; cp FOLDER/run.samples.jsonl ${out%.json}.samples.jsonl;;
esac
"""


class GateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.verify(0)
        self.bench()

    def verify(self, code, word="PASSED", text="All cases passed."):
        self.verify_code = code
        self.write("summary.json", json.dumps({
            "schema": "backgauge.verification/1", "verdict": {"word": word, "text": text},
            "run": {"implementation": "mine", "implementation_version": "1", "finished": "2026-01-01T00:00:00Z"},
            "terms": [{"op": "block_lstm_grad_v2", "text": "accuracy class B"}], "kinds": []}))

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def bench(self, lines=LINES, **options):
        defaults = {"shares": dict.fromkeys((OLD, AGAIN, NEW), 0.9), "rounds": 24, "blocks": 8, "noise": CALM}
        Synthetic(lines, **(defaults | options)).write(self.folder / "run.json")

    def slower(self, factor, lines=LINES):
        return {(NEW, line): factor for line in lines}

    def count(self, factor=1.0, spread=0.0):
        head = {"schema": counts.SCHEMA, "context": {}}
        entries = [{"workload": line, "implementation": name, "verdict": "PASSED", "reason": "", "counter": "callgrind",
                    "instructions": [1e6 * (factor if name == NEW else 1) * (1 + spread * k) for k in range(3)], "cycles": []}
                   for line in LINES for name in (OLD, AGAIN, NEW)]
        self.write("counts.jsonl", "".join(json.dumps(line) + "\n" for line in (head, *entries)))

    def gate(self, policy="", *more):
        """(exit code, first line of the summary, gate.json)."""
        counted = "cp FOLDER/counts.jsonl $out; exit 0" if (self.folder / "counts.jsonl").exists() else "echo 'nothing counts here' >&2; exit 3"
        program = self.write("backgauge", PROGRAM.replace("COUNT", counted).replace("VERIFY", str(self.verify_code))
                             .replace("FOLDER", str(self.folder)))
        program.chmod(0o755)
        arguments = ["--impl=mine.so", "--baseline=old.so", f"--out={self.folder}/out", f"--policy={self.write('policy.toml', policy)}", *more]
        with unittest.mock.patch.dict("os.environ", BACKGAUGE_COMMAND=str(program)), contextlib.redirect_stdout(io.StringIO()):
            code = main(arguments)
        found = json.loads((self.folder / "out" / "gate.json").read_text())
        line, *_ = (self.folder / "out" / "summary.md").read_text().splitlines()
        self.assertEqual(found["exit_code"], code)
        self.assertTrue(line.startswith(f"**{found['verdict']}**: "), line)
        return code, line, found


class VerdictTest(GateTest):
    def test_the_same_code_is_green(self):
        code, line, found = self.gate()
        self.assertEqual(code, 0, line)
        self.assertIn("All cases passed.; times: 6 SAME; mean 1.00", line)
        self.assertEqual(found["findings"], [])
        calls = (self.folder / "calls").read_text()
        self.assertIn("verify --impl=mine.so --tier=smoke", calls)
        self.assertIn("bench --impl=old.so,old.so,mine.so --blocks=8", calls)

    def test_the_terms_of_bench_are_stated(self):
        self.bench(context={f"terms/{name}/block_lstm_grad_v2": "accuracy class A in f16" for name in (OLD, NEW)})
        _, _, found = self.gate()
        self.assertEqual(found["compare"]["terms"]["head"], {"block_lstm_grad_v2": "accuracy class A in f16"})
        self.assertIn("- terms of block_lstm_grad_v2: accuracy class A in f16", (self.folder / "out" / "summary.md").read_text())

    def test_the_terms_of_verify_are_stated(self):
        _, _, found = self.gate()
        self.assertEqual(found["verify"]["terms"], [{"op": "block_lstm_grad_v2", "text": "accuracy class B"}])
        self.assertIn("accuracy class B", (self.folder / "out" / "summary.md").read_text())

    def test_wrong_results_are_red_and_not_timed(self):
        self.verify(1, "FAILED", "7 of 90 cases are wrong.")
        code, line, found = self.gate()
        self.assertEqual((code, found["compare"]), (1, None))
        self.assertIn("7 of 90 cases are wrong.", line)
        self.assertNotIn("bench", (self.folder / "calls").read_text())

    def test_wrong_results_of_a_timed_workload_are_red(self):
        self.bench(failed={(NEW, LINES[0]): ("FAILED", "x_grad[0]: ratio 7")})
        code, line, _ = self.gate()
        self.assertEqual(code, 1)
        self.assertIn("x_grad[0]: ratio 7", line)

    def test_a_slow_workload_is_named_first(self):
        self.bench(slower=self.slower(1.2, LINES[2:3]))
        code, line, _ = self.gate()
        self.assertEqual(code, 4)
        self.assertIn("BlockLSTMGradV2 T40 B8 I128 H128 f32: 1.2", line)

    def test_a_slow_workload_is_found_however_busy_the_machine_is(self):
        # Every sample is disturbed, and the clock says nothing: three times what the CPU did, and wild.
        self.bench(slower=self.slower(2.0, LINES[:1]), disturbed=True, noise=Noise(0.2, 0.1, 0.3, 2.0, 0.05), rounds=60, blocks=20)
        code, line, _ = self.gate()
        self.assertEqual(code, 4, line)

    def test_creep_is_found_in_the_mean(self):
        self.bench(slower=self.slower(1.02))
        code, line, found = self.gate()
        self.assertEqual(code, 4)
        self.assertIn("geometric mean of 6: 1.02", line)
        self.assertNotIn("SLOWER", [one["verdict"] for one in found["compare"]["workloads"]])

    def test_where_nothing_can_be_decided_nothing_is_green(self):
        self.bench(rounds=2, blocks=2)
        for policy in ("", '[time]\nunclear = "allow"'):
            code, line, _ = self.gate(policy)
            self.assertEqual(code, 5)
            self.assertIn("nothing could be decided", line)

    def test_a_checker_that_failed_is_no_verdict(self):
        self.verify(6)
        with self.assertRaises(errors.CommandError) as raised:
            self.gate()
        self.assertEqual(raised.exception.exit_code, 6)


class PolicyTest(GateTest):
    def test_what_only_one_side_has(self):
        self.bench(failed={(NEW, LINES[0]): ("SKIPPED", "does not claim it")})
        code, line, _ = self.gate()
        self.assertEqual(code, 5)
        self.assertIn("does not claim it, and the policy forbids missing workloads", line)
        self.assertEqual(self.gate('[time]\nmissing = "allow"')[0], 0)
        only_old = '[[workload]]\nmatch = "*b1i128h128*"\nmissing = "allow"'
        self.assertEqual(self.gate(only_old)[0], 0)

    def test_what_neither_side_claims_is_not_missing(self):
        for word, code in (("SKIPPED", 0), ("FAILED", 5)):
            with self.subTest(word=word):
                self.bench(failed={(name, LINES[0]): (word, "dtype f16") for name in (OLD, AGAIN, NEW)})
                self.assertEqual(self.gate()[0], code)

    def test_what_stays_unclear(self):
        self.bench(slower=self.slower(1.03, LINES[:1]), seed=5)
        self.assertEqual(self.gate('[time]\nmin_effect = "3.6%"')[0], 0)
        self.assertEqual(self.gate('[time]\nmin_effect = "3.6%"\nunclear = "forbid"')[0], 5)
        counted = '[time]\nmin_effect = "3.6%"\nunclear = "counts"'
        self.assertEqual(self.gate(counted)[0], 5)
        self.count()
        self.assertEqual(self.gate(counted)[0], 0)

    def test_a_workload_may_have_a_rule_of_its_own(self):
        self.bench(slower=self.slower(1.08, LINES[:1]))
        self.assertEqual(self.gate()[0], 4)
        self.assertEqual(self.gate('[time]\nmean_effect = "5%"\n[[workload]]\nmatch = "* t40b1i128h128 *"\nmin_effect = "10%"')[0], 0)

    def test_a_budget(self):
        code, line, _ = self.gate('[[workload]]\nop = "BlockLSTMGradV2"\nbudget = "1 us"')
        self.assertEqual(code, 4)
        self.assertIn("more than its budget of 1.00 us", line)
        self.assertEqual(self.gate('[[workload]]\nbudget = "1000 s"')[0], 0)

    def test_verify_may_be_left_out(self):
        self.verify(1, "FAILED", "wrong")
        self.assertEqual(self.gate("[verify]\nrequired = false")[0], 0)

    def test_errors_name_the_key(self):
        for text, expected in (("[tim]", "expected [time]"), ("[time]\nalpha = 2", "[time] alpha = 2: expected a share"),
                               ("[time]\neffect = 1", "[time] effect: expected one of min_effect"), ("x", "not TOML"),
                               ('[time]\nunclear = "no"', "unclear = 'no': expected one of allow, counts, forbid"),
                               ('[[workload]]\nop = "LSTM"', "[[workload]] 1 op = 'LSTM'"), ("workload = 1", "workload: expected [[workload]]"),
                               ('[[workload]]\nbudget = "2"', "budget = '2': expected a time"), ("time = 1", "[time]: expected a table"),
                               ("[verify]\nrequired = 1", "required = 1: expected true or false")):
            with self.subTest(text=text), self.assertRaises(errors.CommandError) as raised:
                read_policy(self.write("policy.toml", text))
            self.assertIn(expected, str(raised.exception))

    def test_the_policy_of_the_readme_is_valid(self):
        readme = pathlib.Path(counts.__file__).with_name("README.md").read_text()
        policy = read_policy(self.write("policy.toml", readme.split("```toml\n")[1].split("```")[0]))
        self.assertEqual([policy.of(LINES[0], "").min_effect, policy.of("lstm_block_cell_grad b1i1h1", "").min_effect], [0.03, 0.05])


class CountsTest(GateTest):
    def test_more_instructions_decide_where_time_does_not(self):
        self.count(1.01)
        self.assertEqual(self.gate()[0], 0)  # every time is SAME
        self.assertEqual(self.gate('[instructions]\ndecides = "always"')[0], 4)
        self.bench(rounds=2, blocks=2)
        code, line, _ = self.gate()
        self.assertEqual(code, 4)
        self.assertIn("1 % more instructions (callgrind)", line)

    def test_counts_that_do_not_repeat_decide_nothing(self):
        self.count(1.01, spread=0.004)
        self.bench(rounds=2, blocks=2)
        code, _, found = self.gate()
        self.assertEqual(code, 5)
        self.assertIn("differ by 0.8 %", found["instructions"]["workloads"][0]["reason"])

    def test_a_machine_that_counts_nothing_says_so(self):
        self.assertEqual(self.gate()[2]["instructions"]["reason"], "the times were clear")
        self.assertEqual(self.gate('[instructions]\ndecides = "always"')[2]["instructions"]["reason"], "nothing counts here")
        self.assertIn("were not counted: nothing counts here", (self.folder / "out" / "summary.md").read_text())


class UsageTest(GateTest):
    def test_bad_usage(self):
        out = f"--out={self.folder}/out"
        for arguments in ([], [out], ["--baseline=a.so"], [out, "--baseline=a", "--base-command=b"], [out, "--baseline=a", "--impl=a,b"],
                          [out, "--baseline=a", "--unjudged"], [out, "--baseline=a", "--until-clear=5"], [out, "--baseline=a", "--policy=absent"]):
            with self.subTest(arguments=arguments), self.assertRaises(errors.CommandError) as raised:
                main(arguments)
            self.assertEqual(raised.exception.exit_code, 2)


if __name__ == "__main__":
    unittest.main()
