# SPDX-License-Identifier: Apache-2.0
"""`backgauge report` and `backgauge compare` as a user calls them: exit codes, interpreters, folders."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from synthetic import Noise, Synthetic, block_line

COMMAND = os.environ["BACKGAUGE_COMMAND"]
CALM = Noise(spread=0.004, drift=0.005, hit=0, offset=0.003)
LINES = [block_line("t25b16i512h512"), block_line("t25b64i512h512")]


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, **options):
        return Synthetic(LINES, **({"shares": {"cpu": 0.9, "eigen": 0.4}, "noise": CALM} | options)).write(self.folder / name)

    def call(self, *arguments, **environment):
        return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=self.folder,
                              stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": "", **environment})

    def expect(self, code, *arguments, **environment):
        done = self.call(*arguments, **environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_report(self):
        done = self.expect(0, "report", self.write("run.json"), "--out=out", "--format=png,svg,md,csv")
        self.assertEqual(done.stderr, "")
        kinds = {path.suffix for path in (self.folder / "out").iterdir()}
        self.assertEqual(kinds, {".png", ".svg", ".md", ".csv"})
        names = {path.name for path in (self.folder / "out").glob("throughput*")}
        self.assertEqual(len(names), 4, names)

    def test_a_folder_of_runs(self):
        self.write("run.json")
        self.expect(0, "report", self.folder, "--out=out", "--format=md")
        self.assertTrue((self.folder / "out" / "summary.md").exists())

    def test_records_of_verify(self):
        self.expect(0, "verify", "--tier=smoke", "--impl=plain", "--out=verified", "--ops=lstm_block_cell_grad")
        done = self.expect(0, "report", "verified", "--out=out", "--format=svg,html")
        self.assertEqual(done.stderr, "")
        self.assertTrue((self.folder / "out" / "tensors-lstm-block-cell-grad-f32.svg").exists())

    def test_a_failed_run_says_so(self):
        self.expect(1, "verify", "--impl=saboteur:A21.block", "--case=block_lstm_grad_v2 t2b3i2h4 peep=1 dt=f32 data=strat:0x1",
                    "--no-shrink", "--out=verified")
        self.expect(0, "report", "verified", "--out=out", "--format=html,md")
        for name, word in (("index.html", "<strong>FAILED</strong>"), ("summary.md", "**FAILED**: A21.block 1: 1 of 1 case failed")):
            self.assertIn(word, (self.folder / "out" / name).read_text())
            self.assertIn("accuracy class A in f16; numerical contract", (self.folder / "out" / name).read_text())
        self.assertIn("block_lstm_grad_v2 x_grad value (1)", (self.folder / "out" / "index.html").read_text())
        (self.folder / "verified" / "summary.json").unlink()
        self.expect(0, "report", "verified", "--out=out", "--format=html")
        self.assertIn("UNKNOWN", (self.folder / "out" / "index.html").read_text())
        (self.folder / "verified" / "summary.json").write_text('{"schema": "backgauge.verification/2"}')
        self.assertIn("expected schema", self.expect(2, "report", "verified", "--out=out").stderr)

    def test_report_refuses(self):
        run = self.write("run.json")
        empty = self.folder / "empty"
        empty.mkdir()
        for arguments in ([], [run], ["absent.json", "--out=out"], [empty, "--out=out"], [run, "--out=out", "--impl=other"],
                          [run, "--out=out", "--format=gif"], [run, f"--out={run}"], [run, "--out=out", "--unknown"]):
            done = self.expect(2, "report", *arguments)
            self.assertTrue(done.stderr.startswith("backgauge: "), done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_compare_gate(self):
        base = self.write("base.json")
        slow = self.write("slow.json", seed=2, slower={("cpu", LINES[0]): 1.2})
        self.assertIn("1 SLOWER", self.expect(4, "compare", base, slow, "--gate").stdout)
        self.expect(0, "compare", base, slow)
        self.expect(0, "compare", base, base, "--gate")

    def test_compare_refuses(self):
        base = self.write("base.json")
        other = self.write("other.json", context={"machine_id": "other"})
        self.assertIn("different machines", self.expect(2, "compare", base, other).stderr)
        self.assertIn("--unknown", self.expect(2, "compare", base, "--unknown").stderr)
        self.assertIn("expected RUN files", self.expect(2, "compare").stderr)

    def test_history(self):
        commit = ["--commit=0123456789", "--commit-time=2026-01-01T00:00:00+00:00", "--branch=main"]
        self.expect(0, "history", "add", self.write("run.json"), *commit)
        self.assertIn("1 run of 1 commit", self.expect(0, "history", "list").stdout)
        self.assertIn("0123456789", self.expect(0, "history", "show", "B16", BACKGAUGE_HISTORY=f"{self.folder}/history").stdout)
        self.assertIn("--unknown", self.expect(2, "history", "list", "--unknown").stderr)
        self.assertIn("COMMAND", self.expect(2, "history").stderr)

    def test_help(self):
        for name in ("report", "compare", "gate", "history", "campaign"):
            done = self.expect(0, name, "--help")
            self.assertIn(f"usage: backgauge {name}", done.stdout)
            self.assertIn(name, self.expect(0, "--help").stdout)

    def test_without_a_python_that_can(self):
        poor = self.folder / "python3"
        poor.write_text("#!/bin/sh\nexit 1\n")
        poor.chmod(0o755)
        for python in (str(poor), str(self.folder / "absent")):
            done = self.expect(3, "report", "run.json", "--out=out", BACKGAUGE_PYTHON=python)
            self.assertIn(f"BACKGAUGE_PYTHON={python}", done.stderr)
            self.assertIn("matplotlib", done.stderr)

    def test_the_chosen_python_is_used(self):
        chosen = self.folder / "chosen"
        chosen.write_text(f"#!/bin/sh\ntouch {self.folder}/used\nexec {sys.executable} \"$@\"\n")
        chosen.chmod(0o755)
        self.expect(0, "compare", self.write("run.json"), BACKGAUGE_PYTHON=str(chosen))
        self.assertTrue((self.folder / "used").exists())

    def test_folders_where_the_user_stands_are_not_taken_for_libraries(self):
        for name in ("numpy", "backgauge", "json"):
            (self.folder / name).mkdir()
            (self.folder / name / "__init__.py").write_text("raise SystemExit(77)\n")
        self.expect(0, "compare", self.write("run.json"))

    def test_a_reader_that_goes_away_is_no_trouble(self):
        run = self.write("run.json")
        done = subprocess.run(["sh", "-c", f"'{COMMAND}' compare '{run}' | true"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
