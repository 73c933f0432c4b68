# SPDX-License-Identifier: Apache-2.0
"""`backgauge history add`, `list` and `show`: immutable files, merging, order, and what is refused."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
from backgauge.history import entry as entries
from backgauge.history import store
from backgauge.history.commits import ordered
from backgauge.history.folder import Folder
from backgauge.history.point import CPU, WALL
from backgauge.history.series import series_of
from backgauge.history.text import rounded_seconds
from backgauge.run import read_run
from history_runs import LINES, HistoryCase, commit_id

RECORDED = pathlib.Path(__file__).parent / "recorded"


class StoreTest(HistoryCase):
    def test_nothing_is_thrown_away(self):
        path = pathlib.Path(self.add(0))
        run = read_run(self.folder / "run0.json")
        entry, = store.read(Folder(self.history, 'here'))
        self.assertEqual(entry.context, run.context)
        for timing in entry.timings:
            pair = run.pairs[timing.workload, timing.implementation]
            self.assertEqual(len(timing.seconds), 11)
            for name in ("seconds", "cpu_seconds", "fma_gflops"):
                np.testing.assert_allclose(getattr(timing, name), [getattr(sample, name) for sample in pair.samples], rtol=1e-8)
            self.assertEqual(timing.calls, [4] * 11)
            self.assertEqual((timing.verdict, timing.version), (pair.verdict, pair.version))
        self.assertEqual(entries.text_of(entry), path.read_text())

    def test_two_runners_never_conflict_and_the_union_is_the_merge(self):
        for k in range(4):
            self.add(k, folder=self.folder / ("one" if k % 2 else "two"))
        self.add(1, folder=self.folder / "two")
        for name in ("one", "two"):
            shutil.copytree(self.folder / name, self.history, dirs_exist_ok=True)
        self.assertEqual([entry.commit.id for entry in ordered(store.read(Folder(self.history, 'here')))], [commit_id(k) for k in range(4)])

    def test_adding_twice_is_adding_once(self):
        self.add(0)
        self.assertIn("was there already", self.add(0))
        self.assertEqual(len(store.read(Folder(self.history, 'here'))), 1)

    def test_files_are_immutable(self):
        path = pathlib.Path(self.add(0))
        self.assertEqual(path.stat().st_mode & 0o222, 0)
        text = path.read_bytes()
        for place in np.random.default_rng(1).integers(0, len(text), 50):
            path.chmod(0o644)
            path.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1:])
            self.assertIn(path.name, self.expect(2, "list", f"--history={self.history}"))

    def test_half_a_file_is_not_read(self):
        path = pathlib.Path(self.add(0))
        (path.parent / ".tmp123.part").write_bytes(path.read_bytes()[:1000])
        self.assertEqual(len(store.read(Folder(self.history, 'here'))), 1)
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:1000])
        self.assertIn("not those that were added", self.expect(2, "list", f"--history={self.history}"))

    def test_files_of_schema_1_are_readable_for_ever(self):
        shutil.copytree(RECORDED / "history-1", self.history)
        entry, = store.read(Folder(self.history, 'here'))
        self.assertEqual((entry.commit.id[:4], entry.branch, entry.context["cpu_model"]), ("7f79", "main", "AMD EPYC"))
        timing = entry.timings[0]
        self.assertEqual((len(timing.seconds), timing.implementation, timing.verdict), (11, "cpu", "PASSED"))
        self.assertEqual(timing.seconds[0], 7.8108508e-06)

    def test_other_schemas(self):
        text = pathlib.Path(self.add(0)).read_text()
        for schema, words in (("backgauge.history/2", "written by a newer backgauge"), ("backgauge.samples/1", "expected backgauge.history/1"),
                              ("backgauge.history/0", "expected backgauge.history/1")):
            made = text.replace(entries.SCHEMA, schema, 1)
            with self.assertRaisesRegex(ValueError, words):
                entries.read_entry(made, "")

    def test_invalid_fields_are_one_line(self):
        head, line, *_ = pathlib.Path(self.add(0)).read_text().splitlines()
        for which, text in ((0, head), (1, line)):
            for key in json.loads(text):
                for value in (None, 3.5, "x", [], {}, ["x"]):
                    lines = [json.loads(head), json.loads(line)]
                    if lines[which][key] == value:
                        continue
                    lines[which][key] = value
                    made = "\n".join(map(json.dumps, lines))
                    if (key, value) in (("context", {}), ("error_over_bound", None), ("error_over_bound", 3.5)) or (
                            value == "x" and key in ("branch", "implementation", "suite", "version", "verdict", "reason")):
                        entries.read_entry(made, "")
                        continue
                    with self.assertRaises((ValueError, KeyError, TypeError), msg=f"{key}={value}"):
                        entries.read_entry(made, "")

    def test_not_a_history(self):
        self.assertIn("no such folder", self.expect(2, "list", f"--history={self.history}"))
        self.history.mkdir()
        self.assertIn("contains no runs", self.expect(2, "list", f"--history={self.history}"))
        (self.history / "samples.jsonl").write_text("{}")
        self.assertIn("samples.jsonl", self.expect(2, "list", f"--history={self.history}"))

    def test_what_add_refuses(self):
        run = self.run_file("run.json")
        given = ["--branch=main", f"--history={self.history}"]
        self.assertIn("not a commit", self.expect(2, "add", run, "--commit=HEAD", f"--repository={self.folder}", *given))
        self.assertIn("hexadecimal", self.expect(2, "add", run, "--commit=HEAD", "--commit-time=2026-01-01T00:00:00+00:00", *given))
        self.assertIn("time zone", self.expect(2, "add", run, "--commit=abcdef0", "--commit-time=2026-01-01T00:00:00", *given))
        self.assertIn("together with", self.expect(2, "add", run, "--commit=abcdef0", "--parents=abcdef1", *given))
        self.assertIn("no such run", self.expect(2, "add", "absent.json", f"--commit={commit_id(1)}",
                                                 "--commit-time=2026-01-01T00:00:00+00:00", *given))
        debug = self.run_file("debug.json", context={"build_type": "Debug"})
        self.assertIn("Debug", self.expect(2, "add", debug, "--commit=abcdef0", "--commit-time=2026-01-01T00:00:00+00:00", *given))
        self.assertFalse(self.history.exists())

    def test_git_says_when_and_after_what(self):
        repository = self.folder / "repository"
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_COMMITTER_DATE": "2026-02-03T04:05:06+01:00",
                       **{f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}

        def git(*words):
            return subprocess.run(["git", *words], cwd=repository, env=environment, check=True, capture_output=True, text=True).stdout.strip()

        repository.mkdir()
        git("init", "-q", "-b", "main")
        for message in ("one", "two"):
            git("commit", "-q", "--allow-empty", "-m", message)
        for name in ("HEAD~1", "HEAD"):
            self.expect(0, "add", self.run_file("run.json"), f"--commit={name}", f"--repository={repository}", "--branch=main",
                        f"--history={self.history}")
        first, second = ordered(store.read(Folder(self.history, 'here')))
        self.assertEqual((second.commit.id, second.commit.parents), (git("rev-parse", "HEAD"), (first.commit.id,)))
        self.assertEqual(first.commit.parents, ())
        self.assertEqual(first.commit.time.isoformat(), "2026-02-03T03:05:06+00:00")


class OrderTest(HistoryCase):
    def test_parents_come_first_whatever_the_clocks_say(self):
        for k, day in ((0, 0), (1, 9), (2, 5), (3, 7)):
            self.add(k, day=day)
        self.assertEqual([int(e.commit.id[:8], 16) for e in ordered(store.read(Folder(self.history, 'here')))], [0, 1, 2, 3])

    def test_commits_without_a_known_parent_are_in_the_order_of_their_times(self):
        for k, day in ((0, 3), (1, 2), (2, 1)):
            self.add(k, day=day, parents=[commit_id(99 + k)])
        self.assertEqual([int(e.commit.id[:8], 16) for e in ordered(store.read(Folder(self.history, 'here')))], [2, 1, 0])

    def test_a_circle_of_parents_loses_nothing(self):
        self.add(0, parents=[commit_id(1)])
        self.add(1)
        self.assertEqual(len(ordered(store.read(Folder(self.history, 'here')))), 2)


class ShowTest(HistoryCase):
    def test_list_and_show(self):
        for k in range(3):
            self.add(k, shares={"cpu": 0.9, "eigen": 0.4}, failed={("eigen", LINES[0]): ("FAILED", "wrong")} if k == 2 else {})
        text = self.expect(0, "list", f"--history={self.history}")
        self.assertIn("3 runs of 3 commits", text)
        self.assertEqual(len(json.loads(self.expect(0, "list", f"--history={self.history}", "--format=json"))), 3)
        text = self.expect(0, "show", "B16 f32", f"--history={self.history}", "--impl=eigen")
        self.assertIn("FAILED wrong", text)
        self.assertEqual(text.count(" ms "), 2)
        self.assertIn("wall clock", text)
        self.assertIn("no such workload", self.expect(2, "show", "B17", f"--history={self.history}"))
        self.assertIn("no such workload", self.expect(2, "show", "B16", f"--history={self.history}", "--branch=other"))

    def test_other_machines_and_settings_are_other_series(self):
        self.add(0)
        self.add(1, context={"cpu_model": "Other CPU"})
        self.add(2, context={"threads": 2})
        self.add(3, branch="next")
        self.add(4, context={"machine_id": "another of the class"})
        self.add(5, context={"device_name": "H100"})
        self.add(6, context={"device_name": "A100"})
        found = series_of(ordered(store.read(Folder(self.history, 'here'))))
        self.assertEqual(sorted(len(series.points) for series in found), [1] * 10 + [2, 2])

    def test_no_more_digits_than_the_noise_allows(self):
        for seconds, error, text in ((1.3417e-3, 0.02e-3, "1.342 ms"), (1.3417e-3, 0.2e-3, "1.34 ms"), (1.3417e-3, 2e-3, "1.3 ms"),
                                     (123.4e-6, 15e-6, "123 us"), (2.0, 0.0, "2.000 s"), (float("nan"), 1, "-")):
            self.assertEqual(rounded_seconds(seconds, error), text)


class ClockTest(HistoryCase):
    def clock(self, share, disturbed=True, threads="1"):
        """The clock of a series in which `share` of each round, and all of one round, was CPU time."""
        folder = tempfile.mkdtemp(dir=self.folder)
        self.add(0, folder=folder, context={"threads": threads})
        entry, = store.read(Folder(folder, 'here'))
        timing = entry.timings[0]
        shares = [1.0 if share > 0.3 and k == 0 else share for k in range(len(timing.seconds))]
        timing.cpu_seconds[:] = [seconds * part for seconds, part in zip(timing.seconds, shares)]
        timing.disturbed[:] = [disturbed] * len(timing.seconds)
        return series_of([entry])[0].clock

    def test_cpu_time_stands_for_disturbed_times_of_one_thread(self):
        self.assertEqual(self.clock(0.5), CPU)
        self.assertEqual(self.clock(0.5, disturbed=False), WALL)
        self.assertEqual(self.clock(0.5, threads="2"), WALL)

    def test_waiting_for_a_device_is_no_cpu_time(self):
        self.assertEqual(self.clock(0.3), WALL)
        self.assertEqual(self.clock(0.0), WALL)
        self.assertEqual(self.clock(float("nan")), WALL)


if __name__ == "__main__":
    unittest.main()
