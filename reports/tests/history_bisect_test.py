# SPDX-License-Identifier: Apache-2.0
"""`backgauge history bisect` on repositories of a few commits: what it finds, what it skips, that it goes on where it stopped, and
what it refuses. One bisect builds and times real plug-ins, with one commit that makes them several times as slow; in the others a
build is a file with its speed, and the times are synthetic."""

import json
import math
import os
import pathlib
import signal
import subprocess
import unittest
import unittest.mock

from backgauge.compare import timing
from backgauge.compare.statistics import Estimate
from backgauge.compare.verdict import Row
from backgauge.history.bisect.measurement import decided
from backgauge.history.bisect.search import BAD, GOOD, SKIPPED, known, next_commit
from backgauge.run import read_run
from history_runs import LINES, HistoryCase
from synthetic import Noise, Synthetic

ROOT = pathlib.Path(__file__).parents[2]
COPY = "test -f plugin.speed || exit 7; cp plugin.speed plugin.so"
# The shortest plug-in of the repository. Where a commit is slow, this loop of it runs several times.
PLUGIN = (ROOT / "ci/testing/plugins/plugin_in_c.c").read_text()
LOOP = "for (int64_t j = 0; j < H; ++j) {"
COMPILE = f"cc -std=c11 -O1 -shared -fPIC -I '{ROOT}/reference/contract' plugin.c -o plugin.so"
CELL = "lstm_block_cell_grad b32i64h64 peep=0 dt=f32 data=strat:0x1"


class SearchTest(unittest.TestCase):
    def found(self, last, first_bad, broken=()):
        """(what is known at the end, what was tried)."""
        tried = {}
        while (k := next_commit(known(last, tried))) is not None:
            self.assertNotIn(k, tried)
            tried[k] = SKIPPED if k in broken else BAD if k >= first_bad else GOOD
        return known(last, tried), tried

    def test_every_first_bad_commit_is_found_with_the_fewest_steps(self):
        for last in (1, 2, 3, 8, 100):
            for first_bad in range(1, last + 1):
                now, tried = self.found(last, first_bad)
                self.assertEqual(list(now.possible), [first_bad])
                self.assertLessEqual(len(tried), math.ceil(math.log2(last)))

    def test_a_stretch_that_does_not_build(self):
        broken = range(40, 61)
        for first_bad in range(1, 101):
            now, tried = self.found(100, first_bad, broken)
            self.assertIn(first_bad, now.possible)
            inside = 40 <= first_bad <= 61
            self.assertEqual(len(now.possible), 22 if inside else 1)
            # Only where the stretch itself is what is left, all of its commits are tried.
            skipped = sum(what == SKIPPED for what in tried.values())
            self.assertTrue(skipped == len(broken) if inside else skipped < len(broken) / 2, (first_bad, skipped))


class DecisionTest(unittest.TestCase):
    def side(self, low, high, noise, middle=1.1):
        estimate = Estimate(math.sqrt(low * high), low, high, 0, "time", 8, 0.01, 5)
        return decided(Row("a case line", (estimate,), noise=noise), middle)

    def test_the_interval_and_the_noise_must_be_clear_of_the_middle(self):
        for low, high, noise, side in ((1.11, 1.3, 0.02, BAD), (0.98, 1.09, 0.02, GOOD), (1.09, 1.3, 0.02, None), (0.98, 1.11, 0.02, None),
                                       (1.11, 1.3, 0.11, None), (0.98, 1.09, 0.11, None), (1.11, 1.3, math.nan, BAD)):
            self.assertEqual(self.side(low, high, noise).side, side, (low, high, noise))
        self.assertIn("the good end differs from itself by 11 %", self.side(1.11, 1.3, 0.11).reason)


class BisectCase(HistoryCase):
    def setUp(self):
        super().setUp()
        self.repository, self.out = self.folder / "repository", self.folder / "out"
        self.repository.mkdir()
        self.environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null",
                            **{f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
        self.git("init", "-q", "-b", "main")
        self.commits, self.launches = [], []

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.repository, env=self.environment, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, subject, **files):
        for name, text in files.items():
            (self.repository / name.replace("_", ".")).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        self.commits.append(self.git("rev-parse", "HEAD"))

    def speeds(self, *factors):
        """A commit for each: how long its build takes, or None where it does not build."""
        for k, factor in enumerate(factors):
            if factor is None:
                self.git("rm", "-q", "--cached", "plugin.speed")
                (self.repository / "plugin.speed").unlink()
                self.commit(f"commit {k}")
            else:
                self.commit(f"commit {k}", plugin_speed=str(factor))

    def bisect(self, code, *options, build=COPY, launch=None, impl="plugin.so", good=None, bad="main"):
        with unittest.mock.patch.object(timing, "_launch", launch or self.launch):
            return self.expect(code, "bisect", f"--good={good or self.commits[0]}", f"--bad={bad}", f"--repository={self.repository}",
                               f"--build={build}", f"--impl={impl}", f"--out={self.out}", "--until-clear=20s", *options)

    def launch(self, command, options, out, noise=Noise(spread=0.004, drift=0.005, hit=0, offset=0.003), failed=()):
        """Answers as bench does, with the speeds that the files of --impl contain."""
        chosen = dict(option.split("=", 1) for option in options if option.startswith("--") and "=" in option)
        base, _, head = (float(pathlib.Path(path).read_text()) for path in chosen["--impl"].split(","))
        workload = options[options.index("--case") + 1] if "--case" in options else None
        self.launches.append((chosen["--impl"].split(",")[2], int(chosen["--blocks"]), workload))
        blocks = int(chosen["--blocks"])
        slower = {("head", line): head / base if line == LINES[0] else 1 for line in LINES}
        Synthetic([workload] if workload else LINES, shares={"base": 0.9, "base#2": 0.9, "head": 0.9}, rounds=3 * blocks, blocks=blocks,
                  seed=len(self.launches), noise=noise, slower=slower, failed=dict(failed) if head == 2 else {}).write(out)
        return read_run(out)

    def result(self):
        return json.loads((self.out / "bisect.json").read_text())

    def assert_clean(self):
        """Nothing stays in the user's repository."""
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)


class FoundTest(BisectCase):
    def test_real_plugins_one_that_does_not_build_and_an_interrupt(self):
        slow = PLUGIN.replace(LOOP, f"for (int again = 0; again < 4; ++again) {LOOP}")
        self.assertNotEqual(slow, PLUGIN)
        for k, text in enumerate([PLUGIN, PLUGIN, PLUGIN, PLUGIN, "no C", slow, slow, slow]):
            self.commit(f"commit {k}", plugin_c=text + f"/* {k} */\n")
        # The shell that builds commit 4, the first commit between the ends that is tried, interrupts its parent once. Tests that were
        # started in the background may have inherited that the signal is ignored.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        build = f"test -e {self.folder}/once || ! grep -q 'no C' plugin.c || {{ touch {self.folder}/once; kill -INT $PPID; sleep 5; }}; {COMPILE}"
        timed = []

        def launch(command, options, out):
            timed.append(out.parent.name)
            return real(command, options, out)

        real, options = timing._launch, ("--case", CELL, "--min-time=1")
        text = self.bisect(130, *options, build=build, launch=launch)
        self.assertIn("the same command goes on", text)
        text = self.bisect(4, *options, build=build, launch=launch)
        self.assertRegex(text, rf"The first bad commit is one of 2.*\n  {self.commits[4][:10]} commit 4: the build failed with exit code 1; .*\n"
                               rf"  {self.commits[5][:10]} commit 5\n")
        self.assertEqual(len(timed), len(set(timed)), f"timed twice: {timed}")
        self.assertNotIn(self.commits[4][:12], timed)
        self.assertGreater(self.result()["step"]["low"], 1.5)
        self.assert_clean()

    def test_the_result(self):
        self.speeds(1, 1, 1, 1, 1.1, 1.1, 1.1, 1.1, 1.1)
        text = self.bisect(4)
        self.assertRegex(text, rf"^first bad commit: {self.commits[4][:10]} commit 4\n"
                               rf"BlockLSTMGradV2 T25 B16 I512 H512 f32: 1\.\d+ \(1\.\d+ \.\. 1\.\d+\) times the time of {self.commits[3][:10]}")
        found = self.result()
        self.assertEqual((found["schema"], found["verdict"], found["workload"]), ("backgauge.bisect/1", "SLOWER", LINES[0]))
        self.assertEqual([each["id"] for each in found["possible"]], [self.commits[4]])
        self.assertEqual(found["last_good"], {"id": self.commits[3], "subject": "commit 3"})
        self.assertEqual({each["id"]: each["is"] for each in found["tried"]},
                         {self.commits[4]: "bad", self.commits[2]: "good", self.commits[3]: "good"})
        self.assertTrue(found["step"]["low"] < 1.1 < found["step"]["high"] or abs(found["step"]["ratio"] - 1.1) < 0.01)
        # After the ends, only the workload that became slower is timed.
        self.assertEqual([workload for _, _, workload in self.launches], [None, *[LINES[0]] * 3])
        self.assert_clean()
        # Again: nothing is built or timed, and the answer is the same.
        self.assertEqual(json.loads(self.bisect(4, "--format=json", build=COPY)), found)
        self.assertEqual(len(self.launches), 4)

    def test_a_merge_is_one_commit(self):
        self.speeds(1, 1)
        self.git("checkout", "-q", "-b", "side")
        self.speeds(1, 1.3, 1.3)
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", "merge side", "side")
        self.assertRegex(self.bisect(4), r"^first bad commit: \w{10} merge side\n")

    def test_two_steps_are_not_taken_for_one(self):
        self.speeds(1, 1, 1.04, 1.04, 1.1, 1.1)
        text = self.bisect(4)
        self.assertIn("commit 4", text)
        self.assertRegex(text, r"This is [56]\d % of the slow-down. Other commits of the range made the rest.")

    def test_the_middle_itself_is_skipped(self):
        self.speeds(1, 1, 1, 1.1 ** 0.5, 1.1, 1.1)
        text = self.bisect(4, "--until-clear=0s")
        self.assertRegex(text, r"one of 2, because some could not be decided:\n  \w+ commit 3: undecided after 8 blocks: the middle of the "
                               r"slow-down is 1\.0\d\d, and the interval reaches both sides\n  \w+ commit 4\n")

    def test_nothing_slower(self):
        self.speeds(1, 1, 1)
        self.assertRegex(self.bisect(0), r"^no slow-down to look for: from \w+ to \w+ geometric mean of 2 is SAME")
        self.assertEqual(len(self.launches), 1)
        self.assert_clean()

    def test_an_unclear_end(self):
        self.speeds(1, 1, 1.05)
        noisy = Noise(spread=0.1, drift=0.05, hit=0.3, offset=0.05)
        text = self.bisect(5, "--until-clear=0s", launch=lambda *words: self.launch(*words, noise=noisy))
        self.assertIn("is UNCLEAR", text)

    def test_a_wrong_end(self):
        self.speeds(1, 1, 2)
        wrong = {("head", line): ("FAILED", "x_grad[0]: ratio 7") for line in LINES}
        text = self.bisect(1, launch=lambda *words: self.launch(*words, failed=wrong))
        self.assertIn("FAILED x_grad[0]: ratio 7", text)

    def test_a_wrong_commit_between_is_skipped(self):
        self.speeds(1, 1, 2, 1.2, 1.2)
        wrong = {("head", LINES[0]): ("FAILED", "x_grad[0]: ratio 7")}
        text = self.bisect(4, launch=lambda *words: self.launch(*words, failed=wrong))
        self.assertRegex(text, r"commit 2: no time for head in run0: FAILED x_grad\[0\]: ratio 7")

    def test_an_interrupted_look_costs_no_other(self):
        # With 1.05 and this noise the first look decides nothing. The process ends in the third.
        self.speeds(1, 1, 1.05, 1.05)
        noisy = Noise(spread=0.03, drift=0.03, hit=0, offset=0.02)

        def until_third(*words):
            if len(self.launches) == 3:
                raise KeyboardInterrupt
            return self.launch(*words, noise=noisy)

        self.bisect(130, launch=until_third)
        state = json.loads((self.out / "state.json").read_text())
        self.assertEqual([blocks for blocks, _ in state["looks"][self.commits[-1]]], [8, 4, 6])
        self.assertIsNone(state["ends"])
        self.bisect(4, launch=lambda *words: self.launch(*words, noise=noisy))
        of_ends = [blocks for path, blocks, _ in self.launches if self.commits[-1][:12] in path]
        self.assertEqual(of_ends[:4], [8, 4, 6, 9])
        self.assertEqual(self.result()["possible"][-1]["subject"], "commit 2")


class RefusalTest(BisectCase):
    def setUp(self):
        super().setUp()
        self.speeds(1, 1, 1.3)

    def refused(self, words, *options, **more):
        text = self.bisect(2, *options, **more)
        self.assertRegex(text, words)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assert_clean()

    def test_before_anything_is_written(self):
        plain = self.folder / "plain"
        plain.mkdir()
        self.git("checkout", "-q", "-b", "other", self.commits[0])
        self.commit("other")
        for words, options, more in (
                (r"^--repository=.*plain: not a git repository$", [f"--repository={plain}"], {}),
                (r"^--good=nothing: not a commit of ", [], {"good": "nothing"}),
                (r"^--bad=--all: not a commit of ", [], {"bad": "--all"}),
                (r"^--good=main: not an ancestor of --bad=other in ", [], {"good": "main", "bad": "other"}),
                (r"^--good=other and --bad=other are the same commit, \w{10}: nothing to look for", [], {"good": "other", "bad": "other"}),
                (r"^--impl=/p.so: expected the path", [], {"impl": "/p.so"}),
                (r"^--impl=a,b: expected a path without a comma", [], {"impl": "a,b"}),
                (r"^--suite=quik: expected one of", ["--suite=quik"], {})):
            with self.subTest(words):
                self.refused(words, *options, **more)
                self.assertFalse(self.out.exists())
        for option in ("--unjudged", "--blocks=3", "--measure=instructions"):
            self.assertIn(f"unexpected {option}", self.bisect(2, option))

    def test_ends_that_cannot_be_built(self):
        self.refused(r"^--good=\w{10}: the build failed with exit code 3; .*build.log has what it printed", build="exit 3")
        self.refused(r"^--bad=\w{10}: the build failed with exit code 1;", build=f"{COPY}; grep -q '^1$' plugin.so")
        self.refused(r"^--good=\w{10}: --impl=plugin.so: not there after the build", build="true")
        self.assertEqual(self.launches, [])
        # Nothing was measured, so that another command may be tried in the same folder.
        self.bisect(4)

    def test_folders_of_something_else(self):
        self.out.mkdir()
        (self.out / "notes").write_text("")
        self.refused(r"^--out=.*out: expected a new folder, or that of a bisect; it has other files")
        (self.out / "notes").unlink()
        self.bisect(4)
        self.refused(r"^--out=.*out: holds another bisect: build test .*, here sleep 0; test", build=f"sleep 0; {COPY}")
        state = self.out / "state.json"
        held = state.read_text()
        for text in ("", "{}", "[]", held.replace('"tried": {', '"tried": {"x": 3, ', 1), held.replace("bisect-state/1", "bisect-state/2")):
            state.write_text(text)
            self.refused(r"state.json: not the state of a bisect")


if __name__ == "__main__":
    unittest.main()
