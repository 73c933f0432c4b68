# SPDX-License-Identifier: Apache-2.0
"""`backgauge compare` that times base and head itself: which blocks of which workloads it asks `backgauge bench` for."""

import json
import unittest
import unittest.mock

from backgauge.compare import timing
from backgauge.compare.verdict import SLOWER
from backgauge.run import read_run
from compare_test import BASE_TWICE, GRID, CallTest


class TimingTest(CallTest):
    """A program that answers as `backgauge bench` does."""

    def fake(self, name, slow, names=("cpu",), blocks=1):
        """It takes `slow` times as long, and writes down how it was called."""
        source = self.write(f"{name}.source.json", rounds=9, blocks=blocks, shares=dict.fromkeys(names, 0.9),
                            slower={(names[0], line): slow for line in GRID})
        program = self.folder / name
        program.write_text("#!/bin/sh\n"
                           f"echo {name} \"$@\" >> {self.folder}/calls\n"
                           "for word in \"$@\"; do case $word in --out=*) out=${word#--out=};; esac; done\n"
                           f"cp {source} $out && cp {source.with_suffix('.samples.jsonl')} ${{out%.json}}.samples.jsonl\n")
        program.chmod(0o755)
        return program

    def calls(self):
        return [line.split() for line in (self.folder / "calls").read_text().splitlines()]

    def test_two_builds_take_turns(self):
        old, new = self.fake("old", 1.0), self.fake("new", 1.3)
        verdicts = self.verdicts(f"--base-command={old}", f"--head-command={new}", "--impl=cpu", "--suite=quick", "--blocks=8")
        self.assertEqual(set(verdicts.values()), {SLOWER})
        self.assertEqual([call[0] for call in self.calls()], 8 * ["old", "new", "old"])
        self.assertEqual(self.calls()[0][1:4], ["bench", "--impl=cpu", "--suite=quick"])

    def test_two_implementations_now(self):
        program = self.fake("bench", 1.0, BASE_TWICE, 9)
        with unittest.mock.patch.dict("os.environ", BACKGAUGE_COMMAND=str(program)):
            code, text = self.call("--impl=cpu,onednn", "--reps=9", "--gate", f"--keep={self.folder}/kept")
        self.assertEqual((code, len(self.calls())), (0, 1), text)
        self.assertIn("SAME", text)
        self.assertIn("--impl=cpu,cpu,onednn --blocks=8", " ".join(self.calls()[0]))
        self.assertEqual(len(list((self.folder / "kept").glob("*.samples.jsonl"))), 1)

    def test_it_goes_on_until_it_is_clear(self):
        program = self.fake("bench", 1.027, BASE_TWICE[::-1], 9)
        with unittest.mock.patch.dict("os.environ", BACKGAUGE_COMMAND=str(program)):
            self.call("--impl=cpu,onednn", "--suite=quick", "--until-clear=1s", "--alpha=1e-9")
        first, second, *_ = self.calls()
        self.assertIn("--suite=quick", first)
        self.assertEqual(second[3], "--blocks=4")
        self.assertNotIn("--suite=quick", second)
        self.assertIn("--case", second)

    def test_values_of_benchs_options_are_no_runs(self):
        program = self.fake("bench", 1.0, BASE_TWICE, 9)
        with unittest.mock.patch.dict("os.environ", BACKGAUGE_COMMAND=str(program)):
            code, text = self.call("--impl=cpu,onednn", "--case", "a case line", "--blocks=9")
        self.assertEqual(code, 0, text)
        self.assertIn("--blocks=9 --case a case line --reps=3", (self.folder / "calls").read_text())

    def test_samples_of_one_thread_are_short(self):
        program = self.fake("bench", 1.0, BASE_TWICE, 9)
        for options, environment, short in (([], "1", True), (["--threads=1"], "4", True), (["--threads", "2"], "1", False), ([], "2", False),
                                            (["--min-time=9"], "1", False)):
            with unittest.mock.patch.dict("os.environ", BACKGAUGE_COMMAND=str(program), BACKGAUGE_THREADS=environment):
                self.call("--impl=cpu,onednn", *options)
            self.assertEqual("--min-time=5" in self.calls()[-1], short, options)

    def test_only_the_least_certain_workload_is_timed_again_for_the_mean(self):
        program = self.fake("bench", 1.0, BASE_TWICE, 9)
        source = self.folder / "bench.source.samples.jsonl"
        wild, lines = GRID[1], []
        for k, line in enumerate(source.read_text().splitlines()):
            value = json.loads(line)
            if value.get("workload") == wild and "seconds" in value:
                value["cpu_seconds"] *= 1 + 0.2 * (k * k % 11 / 11 - 0.5)
            lines.append(json.dumps(value))
        source.write_text("".join(line + "\n" for line in lines))
        with unittest.mock.patch.dict("os.environ", BACKGAUGE_COMMAND=str(program)):
            self.call("--impl=cpu,onednn", "--until-clear=1s", "--mean-effect=0.5%", "--min-effect=30%")
        second = self.calls()[1]
        self.assertEqual(second.count("--case"), 1, second)
        self.assertIn(wild, " ".join(second))

    def test_a_bench_that_fails_is_no_result(self):
        with unittest.mock.patch.dict("os.environ", BACKGAUGE_COMMAND="/bin/false"):
            self.assertNotEqual(self.call("--impl=cpu,onednn")[0], 0)

    def test_rounds_of_launches_stay_apart(self):
        runs = [read_run(self.write(f"{k}.json", GRID[:1], seed=k, rounds=4)) for k in (0, 1)]
        joined = timing.join(runs)
        pair = joined.pairs[next(iter(joined.pairs))]
        self.assertEqual(len({sample.round for sample in pair.samples}), 8)


if __name__ == "__main__":
    unittest.main()
