# SPDX-License-Identifier: Apache-2.0
"""Failures shrink to simple cases, which later runs judge first."""

import json
import unittest

from command import CELL, PLUGINS, CommandTest

PLAINEST = "lstm_block_cell_grad b1i1h1 peep=0 dt=f32 data=plain:0x1 chk=0a6e"
BAD = PLUGINS / "leaves_output_unwritten.so"
SMOKE = ["verify", "--tier=smoke", "--ops=lstm_block_cell_grad"]


def records(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


class Shrunk(CommandTest):
    def test_one_of_each_kind(self):
        done = self.expect(1, *SMOKE, f"--impl={BAD}", f"--out={self.folder}")
        kinds = done.stdout.split("\nlstm_block_cell_grad wcf_grad unwritten: ")
        self.assertEqual(len(kinds), 2)
        self.assertRegex(kinds[1], r"^\d{3,} failures, shrunk in \d+ runs, \d+\.\d s\n")
        self.assertIn(f"\n  repro: backgauge repro '{PLAINEST}' --impl={BAD}\n", kinds[1])
        first = records(self.folder / "records.jsonl")[0]
        (shrunk,) = records(self.folder / "shrunk.jsonl")
        self.assertEqual((shrunk["id"], shrunk["shrunk_from"], shrunk["plan"]), (PLAINEST, first["id"], first["plan"]))
        self.assertEqual(shrunk["status"], "FAILED")
        self.assertNotIn("flaky", first)
        self.expect(1, "repro", PLAINEST, f"--impl={BAD}")
        self.expect(0, *SMOKE, f"--out={self.folder}")
        self.assertFalse((self.folder / "shrunk.jsonl").exists())

    def test_a_check_that_failed_is_made_again_alone(self):
        """The command that verify names for it: only this check, of one op if it is of one."""
        check = "check: determinism lstm_block_cell_grad"
        done = self.expect(1, "repro", check, "--impl=saboteur:I9.cell")
        self.assertRegex(done.stdout, rf"^{check}\nI9\.cell \(version .*\): FAILED\n  claims bitwise, measured per thread count: ")
        done = self.expect(0, "repro", "check: threads", "--impl=plain")
        self.assertRegex(done.stdout, r"^check: threads\nplain \(version .*\): PASSED\n\nthreads: 6 calls measured, ")
        self.expect_complaint(2, "check: expected one of calls at once, threads, memory, state walk, determinism, got luck", "repro", "check: luck")
        self.expect_complaint(2, "expected none of --shrink", "repro", "check: threads", "--shrink")

    def test_parts_shrink_as_one_run(self):
        parts = [self.folder / "1", self.folder / "2"]
        for k, part in enumerate(parts, 1):
            self.expect(1, *SMOKE, f"--impl={BAD}", f"--shard={k}/2", f"--out={part}")
        self.expect(1, "merge", *parts, f"--out={self.folder / 'all'}")
        self.assertEqual(*[records(folder / "shrunk.jsonl") for folder in (self.folder / "all", parts[0])])

    def test_no_shrink(self):
        done = self.expect(1, *SMOKE, f"--impl={BAD}", "--no-shrink", f"--out={self.folder}")
        self.assertNotIn("shrunk", done.stdout)
        self.assertFalse((self.folder / "shrunk.jsonl").exists())

    def test_repro(self):
        done = self.expect(1, "repro", CELL, f"--impl={BAD}", "--shrink")
        self.assertRegex(done.stdout, rf"\nshrunk in \d+ runs, \d+\.\d s\n{PLAINEST}\n  tensor wcf_grad\[0\]")
        self.assertNotIn("shrunk", self.expect(0, "repro", CELL, "--shrink").stdout)
        self.expect_complaint(2, "chk=0000", "repro", CELL + " chk=0000", "--shrink")


class Regressions(CommandTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "regressions.txt"
        self.environment = {"BACKGAUGE_REGRESSIONS": str(self.file)}

    def test_what_failed_is_judged_first(self):
        self.file.write_text("# seen before\n\nblock_lstm_grad_v2 t1b1i1h1 dt=f32 data=strat:0x1 # elsewhere")
        for arguments in (["verify", "--case", CELL], [*SMOKE], ["repro", CELL, "--shrink"]):
            self.expect(1, *arguments, f"--impl={BAD}", "--add-regression", environment=self.environment)
        # Calls that it accepts and must refuse are failures of their own.
        accepted = r"(lstm_block_cell_grad b1i1h1 peep=0 dt=f(16|32) data=malformed:0x\w+\n)+"
        self.assertRegex(self.file.read_text(), "^# seen before\n\nblock_lstm_grad_v2 t1b1i1h1 dt=f32 data=strat:0x1 "
                         f"# elsewhere\n{PLAINEST}\n{accepted}$")
        self.expect(0, *SMOKE, "--strict", f"--out={self.folder}", environment=self.environment)
        ids = [record["id"] for record in records(self.folder / "records.jsonl")]
        self.assertEqual(ids[0], PLAINEST)
        accepted_calls = sum("data=malformed" in line for line in self.file.read_text().splitlines())
        self.assertEqual(ids[1 + accepted_calls].split()[-1], "data=golden:cell_f32_1x1")

    def test_files(self):
        for arguments in (["repro", CELL], ["verify", "--no-shrink", "--case", CELL]):
            file = self.folder / arguments[0]
            done = self.expect(1, *arguments, f"--impl={BAD}", f"--add-regression={file}")
            self.assertIn(f"1 line kept in {file}\n", done.stdout)
            self.assertRegex(file.read_text(), f"^{CELL} chk=....\n$")
        self.assertFalse(self.file.exists())

    def test_broken_files(self):
        self.expect_complaint(2, "no such file", *SMOKE, environment=self.environment)
        self.expect_complaint(2, "no such file", "repro", CELL, "--add-regression", environment=self.environment)
        self.file.write_text(f"# one\n{CELL}\nlstm_block_cell_grad b1\n")
        self.expect_complaint(2, ":3: b1", *SMOKE, environment=self.environment)
        self.file.write_text(f"{CELL} chk=0000\n")
        self.expect_complaint(2, "chk=0000", *SMOKE, environment=self.environment)


if __name__ == "__main__":
    unittest.main()
