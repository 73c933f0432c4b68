# SPDX-License-Identifier: Apache-2.0
"""A run in parts: shards, runs that are killed and resumed, runs that have no more time; and what joins them again."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from command import C_PLUGINS, CELL, COMMAND, ENVIRONMENT, CommandTest, run

PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]
BLOCK = "block_lstm_grad_v2 t2b3i4h2 peep=0 order=ifco seq=2 dt=f16 data=strat:0x1"


def records(folder):
    """The records in a folder, without their timings."""
    out = []
    for line in (folder / "records.jsonl").read_text().splitlines():
        out.append(json.loads(line))
        del out[-1]["ms"]
    return out


class Parts(CommandTest):
    SMOKE = ["verify", "--tier=smoke", "--impl=plain", "--ops=lstm_block_cell_grad"]

    @classmethod
    def setUpClass(cls):
        if hasattr(Parts, "whole_run"):  # one serves all classes
            return
        folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(folder.cleanup)
        Parts.whole = pathlib.Path(folder.name) / "whole"
        Parts.whole_run = run(*cls.SMOKE, f"--out={Parts.whole}")

    def killed(self, enough, out, *arguments):
        """Runs until `enough` lines of records are there, and kills without mercy. True if it was in time."""
        process = subprocess.Popen([COMMAND, *map(str, arguments), f"--out={out}"], stdout=subprocess.DEVNULL,
                                   env=ENVIRONMENT)
        file = out / "records.jsonl"
        deadline = time.monotonic() + 300
        while process.poll() is None and not (file.exists() and file.read_bytes().count(b"\n") >= enough):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)
        process.kill()
        return process.wait() == -9


def recipes():
    text = (pathlib.Path(__file__).resolve().parents[3] / "properties" / "campaigns.md").read_text()
    found = dict(re.findall(r"<!-- recipe: (\w+) -->\n```sh\n(.*?)```", text, re.DOTALL))
    smaller = {"--tier=full --impl=./libmine.so": " ".join(Parts.SMOKE[1:]), "seq 100": "seq 3", "/100": "/3"}
    for name, recipe in found.items():
        for large, small in smaller.items():
            recipe = recipe.replace(large, small)
        found[name] = recipe
    return found


RECIPES = recipes()


class Recipes(Parts):
    def test_they_give_the_run_of_one_machine(self):
        """The recipes of properties/campaigns.md, unchanged but for the size and the implementation."""
        (self.folder / "backgauge").symlink_to(COMMAND)
        system = {**ENVIRONMENT, "PATH": f"{self.folder}:{os.environ['PATH']}"}

        def follow(recipe, **variables):
            return subprocess.run(["sh", "-c", recipe], cwd=self.folder, env={**system, **variables}, capture_output=True, text=True)

        def merged():
            done = follow(RECIPES["merge"])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(records(self.folder / "all"), records(self.whole))
            shutil.rmtree(self.folder / "parts")

        with self.subTest("Slurm"):
            for task in (0, 1, 2, 1):  # one of them is requeued
                done = follow(RECIPES["slurm"], SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="3", SLURM_ARRAY_TASK_MIN="0",
                              SLURM_ARRAY_TASK_MAX="2", SLURM_ARRAY_TASK_STEP="1", SLURM_ARRAY_JOB_ID="7", SLURM_JOB_ID=str(7 + task), SLURM_CPUS_PER_TASK="2")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn(f", shard {task + 1}/3, ", done.stdout)
            self.assertRegex(done.stdout, r"resumed: [1-9]\d* cases judged before")
            merged()
        with self.subTest("GNU parallel"):
            if shutil.which("parallel") is None:
                self.skipTest("there is no GNU parallel: ci/install-deps --tests")
            done = follow(RECIPES["parallel"], HOME=str(self.folder))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual([f"shard {k}/3" in done.stdout for k in range(1, 5)], [True, True, True, False])
            merged()


class Shards(Parts):
    def test_killed_resumed_and_merged_shards_are_one_run(self):
        shards = [self.folder / str(k) for k in range(1, 5)]
        for k, out in enumerate(shards, 1):
            arguments = [*self.SMOKE, f"--shard={k}/4"]
            self.assertTrue(self.killed(10 * k, out, *arguments))
            done = self.expect(0, *arguments, f"--out={out}", "--resume")
            self.assertRegex(done.stdout, rf"\), \d+ of {len(records(self.whole))} cases, shard {k}/4, tier smoke, seed 1\n")
            self.assertRegex(done.stdout, r"resumed: [1-9]\d* cases judged before\n")
        merged = self.folder / "merged"
        # Neither the order of the parts nor one given twice changes anything.
        done = self.expect(0, "merge", *reversed(shards), shards[3] / "records.jsonl", f"--out={merged}", "--strict")
        self.assertEqual(records(merged), records(self.whole))
        self.assertEqual(done.stdout.splitlines()[-1], self.whole_run.stdout.splitlines()[-1])
        junit = [(folder / "junit.xml").read_text().count("<testcase ") for folder in (merged, self.whole)]
        self.assertEqual(junit[0], junit[1])

    def test_environment(self):
        for variables, shard in [
            ({"GTEST_SHARD_INDEX": "0", "GTEST_TOTAL_SHARDS": "40"}, "1/40"),
            ({"SLURM_ARRAY_TASK_ID": "39", "SLURM_ARRAY_TASK_COUNT": "40"}, "40/40"),
            ({"SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_COUNT": "40", "SLURM_ARRAY_TASK_MIN": "10",
              "SLURM_ARRAY_TASK_MAX": "88", "SLURM_ARRAY_TASK_STEP": "2"}, "2/40"),
            ({"CI_NODE_INDEX": "40", "CI_NODE_TOTAL": "40"}, "40/40"),
            ({"CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "40", "GTEST_SHARD_INDEX": "2", "GTEST_TOTAL_SHARDS": "40"}, "3/40"),
            ({"BACKGAUGE_SHARD": "7/40", "CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "40"}, "7/40"),
        ]:
            with self.subTest(variables=variables):
                self.assertIn(f"shard {shard},", self.expect(0, *Parts.SMOKE, environment=variables).stdout)
        with self.subTest("an option comes before all of them"):
            self.assertIn("shard 5/40,", self.expect(0, *Parts.SMOKE, "--shard=5/40", environment=variables).stdout)
        with self.subTest("a job that is not parallel"):
            done = self.expect(0, *Parts.SMOKE, environment={"CI_NODE_TOTAL": "1"})
            self.assertNotIn("shard", done.stdout)
        with self.subTest("lines given by hand are not dealt out"):
            done = self.expect(0, "verify", "--case", CELL, "--strict",
                               environment={"CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "2"})
            self.assertIn("1 passed", done.stdout)

    def test_environment_that_cannot_be(self):
        for variables, word in [
            ({"GTEST_SHARD_INDEX": "8", "GTEST_TOTAL_SHARDS": "8"}, "GTEST_SHARD_INDEX=8"),
            ({"GTEST_SHARD_INDEX": "-1", "GTEST_TOTAL_SHARDS": "8"}, "GTEST_SHARD_INDEX=-1"),
            ({"GTEST_SHARD_INDEX": "0"}, "GTEST_TOTAL_SHARDS is not"),
            ({"GTEST_TOTAL_SHARDS": "8"}, "GTEST_SHARD_INDEX is not"),
            ({"GTEST_SHARD_INDEX": "0", "GTEST_TOTAL_SHARDS": "0"}, "GTEST_TOTAL_SHARDS=0"),
            ({"CI_NODE_INDEX": "0", "CI_NODE_TOTAL": "8"}, "CI_NODE_INDEX=0"),
            ({"CI_NODE_INDEX": "9", "CI_NODE_TOTAL": "8"}, "CI_NODE_INDEX=9"),
            ({"CI_NODE_INDEX": "two", "CI_NODE_TOTAL": "8"}, "CI_NODE_INDEX=two"),
            ({"SLURM_ARRAY_TASK_ID": "8", "SLURM_ARRAY_TASK_COUNT": "8"}, "SLURM_ARRAY_TASK_ID=8"),
            ({"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "0",
              "SLURM_ARRAY_TASK_STEP": "2"}, "SLURM_ARRAY_TASK_ID=3"),
            ({"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "8", "GTEST_SHARD_INDEX": "1", "GTEST_TOTAL_SHARDS": "8"}, "2/8"),
        ]:
            with self.subTest(variables=variables):
                self.expect_complaint(2, word, *self.SMOKE, environment=variables)
                self.expect(0, "verify", "--case", CELL, environment=variables)


class Resumed(Parts):
    # These calls are made again, and how many there are depends on the machine's other work.
    CONCURRENT = r"concurrent calls: \d+ sets? of cases, \d+ calls, \d+ of them overlapping"
    MEASURED = r"memory: \d+ calls measured"

    def test_only_cases_in_flight_are_lost(self):
        slow = "block_lstm_grad_v2 t40b64i256h256 peep=1 order=ifco seq=40 dt=f32 data=strat:0x1"
        arguments = ["verify", "--jobs=2", "--case", slow]
        for seed in range(20):
            arguments += ["--case", CELL.replace("0x9e37", hex(seed))]
        self.assertTrue(self.killed(20, self.folder, *arguments), "the slow case was too fast")
        done = self.expect(0, *arguments, f"--out={self.folder}", "--resume")
        self.assertIn("resumed: 20 cases judged before\n", done.stdout)
        self.assertIn("summary: 21 passed", done.stdout)
        self.assertEqual([record["plan"]["index"] for record in records(self.folder)], list(range(21)))

    def test_a_torn_line_is_judged_again(self):
        self.expect(0, *self.SMOKE, f"--out={self.folder}")
        file = self.folder / "records.jsonl"
        whole = file.read_bytes()
        for length in (1, whole.index(b"\n"), len(whole) // 2, len(whole) - 1):
            with self.subTest(length=length):
                file.write_bytes(whole[:length])
                kept = whole[:length].count(b"\n")
                done = self.expect(0, *self.SMOKE, f"--out={self.folder}", "--resume")
                self.assertIn(f"resumed: {kept} case{'' if kept == 1 else 's'} judged before\n", done.stdout)
                self.assertEqual(records(self.folder), records(self.whole))

    def test_a_finished_run_says_the_same_again(self):
        arguments = ["verify", f"--impl={C_PLUGINS / 'plugin_in_c.so'}", "--tier=smoke", f"--out={self.folder}"]
        first, again = self.expect(0, *arguments).stdout, self.expect(0, *arguments, "--resume").stdout
        self.assertRegex(first, self.CONCURRENT)
        self.assertRegex(first, self.MEASURED)
        self.assertEqual(*(re.sub(f"{self.CONCURRENT}|{self.MEASURED}", "calls", text.split("\n\n", 1)[1]) for text in (first, again)))

    def test_nothing_to_resume_is_a_run(self):
        self.expect(0, "verify", "--case", CELL, f"--out={self.folder / 'new'}", "--resume")
        self.assertEqual(len(records(self.folder / "new")), 1)

    @unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
    def test_an_adapter_that_has_changed_is_another_run(self):
        adapter = self.folder / "adapters" / "framework" / "adapter_some.py"
        adapter.parent.mkdir(parents=True)
        kernel = pathlib.Path(__file__).resolve().parents[3] / "impl" / "numpy" / "lstm_block_cell_grad.py"
        environment = {"BACKGAUGE_ADAPTERS": str(self.folder / "adapters"), "BACKGAUGE_PYTHON": PYTHON}
        arguments = ["verify", "--impl=some", "--case", CELL, f"--out={self.folder / 'out'}"]
        adapter.write_bytes(kernel.read_bytes())
        self.expect(0, *arguments, environment=environment)
        self.expect(0, *arguments, "--resume", environment=environment)
        adapter.write_bytes(kernel.read_bytes() + b"\n# faster\n")
        self.expect_complaint(2, "file of the implementation ", *arguments, "--resume", environment=environment)

    def test_another_run_is_refused(self):
        self.expect(0, *self.SMOKE, f"--out={self.folder}")
        before = (self.folder / "records.jsonl").read_bytes()
        for arguments, word in [
            (["--impl=cpu"], "implementation plain, here cpu"),
            (["--tier=ci"], "tier smoke, here ci"),
            (["--seed=2"], "seed 1, here 2"),
            (["--shard=1/2"], "shard 1/1, here 1/2"),
            (["--threads=2"], "threads 1, here 2"),
            (["--ops=block_lstm_grad_v2"], "number of cases"),
        ]:
            with self.subTest(arguments=arguments):
                defaults = {"--impl": "plain", "--tier": "smoke", "--ops": "lstm_block_cell_grad"}
                defaults.update(argument.split("=") for argument in arguments)
                self.expect_complaint(2, word, "verify", *map("=".join, defaults.items()), f"--out={self.folder}",
                                      "--resume")
                self.assertEqual((self.folder / "records.jsonl").read_bytes(), before)
        head = self.folder / "run.json"
        text = head.read_text()
        for changed, word in [(text.replace('"0.', '"9.'), "backgauge 9."), ("{", "run.json")]:
            head.write_text(changed)
            self.expect_complaint(2, word, *self.SMOKE, f"--out={self.folder}", "--resume")
        head.unlink()
        self.expect_complaint(2, "no run.json", *self.SMOKE, f"--out={self.folder}",
                              "--resume")

    def test_other_terms_are_another_run(self):
        arguments = ["verify", f"--impl={C_PLUGINS / 'answers_from_files.so'}", "--no-shrink", "--case", CELL, "--case", BLOCK]
        out, parts = self.folder / "out", [self.folder / "1", self.folder / "2"]
        of_class = [{"ANSWERS": str(self.folder), "ANSWERS_CLAIMS": f"accuracy_class={number}"} for number in "14"]
        self.expect(1, *arguments, f"--out={out}", environment=of_class[0])
        self.expect(1, *arguments, f"--out={out}", "--resume", environment=of_class[0])
        self.expect_complaint(2, "accuracy_class of lstm_block_cell_grad A, here B", *arguments, f"--out={out}", "--resume",
                              environment=of_class[1])
        for part, environment, k in zip(parts, of_class, (1, 2)):
            self.expect(1, *arguments, f"--shard={k}/2", f"--out={part}", environment=environment)
        self.expect_complaint(2, "not a part of the same run: accuracy_class of lstm_block_cell_grad B, here A", "merge", *parts,
                              f"--out={self.folder / 'merged'}")
        head = out / "run.json"
        head.write_text(head.read_text().replace('"terms"', '"conditions"'))
        self.expect_complaint(2, "terms", *arguments, f"--out={out}", "--resume", environment=of_class[0])

    def test_a_rebuilt_library_is_another_run(self):
        library = self.folder / "mine.so"
        library.write_bytes((C_PLUGINS / "plugin_in_c.so").read_bytes())
        arguments = ["verify", f"--impl={library}", "--case", CELL, f"--out={self.folder / 'out'}", "--resume"]
        self.expect(0, *arguments)
        library.write_bytes(library.read_bytes() + b"\n")
        self.expect_complaint(2, "file of the implementation ", *arguments)


class OutOfTime(Parts):
    def test_max_time(self):
        arguments = ["verify", "--tier=ci", f"--out={self.folder}"]
        done = self.expect(0, *arguments, "--max-time=1s")
        judged = len(records(self.folder))
        # Which cases are judged in the time is not known beforehand, and some cases leave nothing to judge.
        counts = re.search(r"\nsummary: (\d+) passed, 0 failed, 0 mistrusted, (\d+) skipped, 0 broken; .*\n"
                           r"not run: \d+ of \d+ cases, because --max-time was reached\n$", done.stdout)
        self.assertTrue(counts, done.stdout)
        self.assertEqual(judged, int(counts[1]) + int(counts[2]))
        done = self.expect(5, *arguments, "--max-time=1s", "--resume", "--strict")
        self.assertIn(f"resumed: {judged} cases judged before\n", done.stdout)
        self.assertGreater(len(records(self.folder)), judged)

    def test_time_enough(self):
        self.expect(0, "verify", "--case", CELL, "--max-time=2h", "--strict")


class Merged(Parts):
    def setUp(self):
        super().setUp()
        self.parts = [self.folder / "1", self.folder / "2"]
        for k, part in enumerate(self.parts, 1):
            self.expect(0, *self.SMOKE, f"--shard={k}/2", f"--out={part}")
        self.out = f"--out={self.folder / 'merged'}"

    def change(self, old, new):
        file = self.parts[1] / "records.jsonl"
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new))

    def test_gaps(self):
        done = self.expect_complaint(2, "cases missing: places 1, 3, 5, 7, 9, ... of the plan", "merge", self.parts[0],
                                     self.out)
        self.assertIn("--partial", done.stderr)
        self.expect(0, "merge", self.parts[0], self.out, "--partial")
        self.assertEqual(records(self.folder / "merged"), records(self.parts[0]))
        self.expect(5, "merge", self.parts[0], self.out, "--partial", "--strict")

    def test_what_was_merged_can_be_resumed(self):
        self.expect(0, "merge", self.parts[0], self.out, "--partial")
        done = self.expect(0, *self.SMOKE, self.out, "--resume")
        self.assertRegex(done.stdout, r"resumed: \d+ cases judged before")
        self.assertEqual(records(self.folder / "merged"), records(self.whole))

    def test_disagreement(self):
        self.change('"status":"PASSED"', '"status":"FAILED"')
        self.expect(1, "merge", *self.parts, self.out)
        self.expect_complaint(2, "disagrees on ", "merge", *self.parts, self.whole, self.out)

    def test_other_runs(self):
        for old, new, word in [('"seed":1', '"seed":7', "seed 7"), ('"name":"plain"', '"name":"mine"', "mine 1")]:
            with self.subTest(new=new):
                self.change(old, new)
                self.expect_complaint(2, word, "merge", *(part / "records.jsonl" for part in self.parts), self.out)
                self.change(new, old)

    def test_what_is_no_part(self):
        empty = self.folder / "empty.jsonl"
        empty.touch()
        odd = self.folder / "odd.jsonl"
        odd.write_text("{}\n")
        for part, word in [("/nowhere", "/nowhere"), (empty, "no records"), (odd, "line 1"), (self.folder, "no such file")]:
            with self.subTest(part=part):
                self.expect_complaint(2, word, "merge", part, self.out)
        self.assertFalse((self.folder / "merged").exists())


if __name__ == "__main__":
    unittest.main()
