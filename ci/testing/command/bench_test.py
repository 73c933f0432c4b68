# SPDX-License-Identifier: Apache-2.0
"""backgauge bench: what it writes, what gets no time, adapters, exit codes. No time is asserted."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from command import C_PLUGINS, CELL, COMMAND, ENVIRONMENT, PLAIN, PLUGINS, SANITIZED, VERSION, CommandTest

HERE = pathlib.Path(__file__).parent
PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]
BLOCK = "block_lstm_grad_v2 t5b3i4h2 peep=1 dt=f32 data=strat:0x1"
CUDNN = "cudnn_rnn_backprop t3b3i5h4 mode=gru dt=f64 data=strat:0x1"
SHORT = ["--reps=3", "--min-time=0.1"]
AGGREGATES = ["mean", "median", "stddev", "cv"]
CONTEXT = ["backgauge_version", "commit", "cpu_model", "isa", "l1_bytes", "l2_bytes", "l3_bytes", "governor", "kernel", "compiler", "workloads_planned", "ended",
           "build_type", "fma_gflops_f32", "fma_gflops_f64", "noise_aa", "machine_id", "cache_mode", "threads",
           "work_convention"] + [f"{what}_gbps_{level}" for what in ("read", "copy")
                                 for level in ("l1", "l2", "l3", "memory")]

# arguments, the word that the message names
BROKEN_ARGUMENTS = [
    (["--suite=nobody"], "tf-grid"),
    (["--case=x"], '"x"'),
    (["--T=1:99999", "--B=1:99999"], "combinations"),
    (["--suite=tf-grid", "--T=1:9999"], "more than 100000 workloads"),
    (["--impl=cpu,,plain"], "cpu,,plain"),
    (["--H=8:4"], "--H=8:4"),
    (["--B=x"], "--B=x"),
    (["--dtype=f8"], "--dtype=f8"),
    (["--dtype=i64"], "--dtype=i64"),
    (["--cache=warm"], "warm"),
    (["--threads=0"], "--threads"),
    (["--reps=0"], "--reps"),
    *[([f"{option}={value}"], option) for option in ("--min-time", "--max-work", "--reps", "--threads", "--launches")
      for value in ("nan", "-nan", "inf", "-1", "0", "1e999", "", "x", "1x", "0x1p3")],
    *[([f"--memory-limit={value}"], "--memory-limit")
      for value in ("-1", "99999999999999999999", "nan", "1.5G", "G", "8388608T", "1Q")],
    *[([f"{option}={value}"], option) for option in ("--benchmark_min_time", "--benchmark_repetitions")
      for value in ("nan", "inf", "-1", "0", "1e9", "")],
    (["--case=lstm_block_cell_grad b2i3h4 dt=f32 data=malformed:0x1"], "cannot be timed"),
    (["--max-time=90"], "--max-time=90"),
    (["--out=/dev/null/x"], "/dev/null/x"),
    (["--out=/"], "expected a file"),
    (["--out=/nonexistent/run.json"], "/nonexistent/run.json"),
    (["--benchmark_out=/"], "expected a file"),
    (["--unjudged", "--strict"], "--unjudged"),
    (["--blocks=0"], "--blocks"),
    (["--blocks=1000", "--reps=11"], "expected at most 10000 rounds in all"),
    (["--measure=cycles"], "cycles"),
    (["--measure=instructions", "--untrusted"], "--untrusted: not with --measure=instructions"),
    (["--measure=instructions", "--isolate=off"], "--isolate=off"),
    (["--measure=instructions", "--benchmark_format=json"], "formats cannot hold counts"),
    (["--unjudged", "--mistrusted"], "--unjudged"),
    (["--bogus"], "--bogus"),
    (["extra"], "extra"),
    (["--benchmark_bogus=1"], "--benchmark_bogus"),
    (["--benchmark_format=xml"], "--benchmark_format=xml"),
    (["--benchmark_filter=nobody"], "no workload"),
    (["--case", CUDNN, "--dtype=f16", "--H=0"], "no workload"),
]


class Runs(CommandTest):
    def bench(self, exit_code, *arguments, **options):
        """Makes a short run. Returns stdout, benchmarks and context of the JSON, lines of samples."""
        out = self.folder / "run.json"
        done = self.expect(exit_code, "bench", *SHORT, f"--out={out}", *arguments, **options)
        document = json.loads(out.read_text())
        samples = [json.loads(line) for line in (self.folder / "run.samples.jsonl").read_text().splitlines()]
        return done.stdout, document["benchmarks"], document["context"], samples


@unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
class BenchTest(Runs):
    def test_files(self):
        stdout, benchmarks, context, samples = self.bench(0, "--impl=cpu,plain", "--case", BLOCK, "--case", CELL)
        for key in CONTEXT:
            self.assertIn(key, context)
        self.assertEqual(context["backgauge_version"], VERSION)
        self.assertEqual((context["workloads_planned"], context["ended"]), ("2", "complete"))
        self.assertEqual(samples[0]["schema"], "backgauge.samples/1")
        self.assertEqual({key: context[key] for key in samples[0]["context"]}, samples[0]["context"])
        runs = [one for one in benchmarks if one["run_type"] == "iteration"]
        self.assertEqual(len(runs), 2 * 2 * 3)
        self.assertEqual(len(benchmarks), 2 * 2 * (3 + len(AGGREGATES)))
        for one in runs:
            self.assertEqual(one["time_unit"], "ms")
            self.assertGreater(one["real_time"], 0)
            self.assertEqual(one["repetitions"], 3)
            self.assertEqual(one["threads"], 1)
            for counter in ("GB/s", "share_of_limit", "first_call_ms", "B", "I", "H"):
                self.assertGreater(one[counter], 0)
            self.assertLessEqual(one["error_over_bound"], 1)
            implementation, suite, line = one["name"].split("/", 2)
            self.assertIn(implementation, ("cpu", "plain"))
            self.assertEqual(suite, "case")
            self.assertEqual(line, one["label"].rsplit(" chk=", 1)[0].replace(" ", ","))
        self.assertEqual({"T" in one and "GFLOP/s" in one for one in runs if "block_lstm" in one["name"]}, {True})
        verdicts = [line for line in samples[1:] if "verdict" in line]
        times = [line for line in samples[1:] if "seconds" in line]
        self.assertEqual([(line["implementation"], line["verdict"]) for line in verdicts],
                         [("cpu", "PASSED"), ("plain", "PASSED")] * 2)
        self.assertEqual({line["workload"] for line in times}, {one["label"] for one in runs})
        self.assertEqual([line["round"] for line in times], [0, 1, 2] * 4)
        for line in times:
            self.assertGreater(line["seconds"], 0)
            self.assertGreater(line["fma_gflops"], 0)
        self.assertIn("x_grad", verdicts[0]["tensors"])
        self.assertIn("plain: 2 of 2 workloads timed", stdout)
        terms = {f"terms/{name}/{op}" for name in ("cpu", "plain") for op in ("lstm_block_cell_grad", "block_lstm_grad_v2")}
        self.assertEqual({key for key in context if key.startswith("terms/")}, terms)
        for key in terms:
            _, name, op = key.split("/")
            self.assertRegex(context[key], "accuracy class .*; numerical contract .*; determinism ")
            self.assertIn(f"\n{name}: terms of {op}: {context[key]}\n", stdout)

    def test_small_workloads_need_little_memory(self):
        # What the probe passes over is the most: samples and the library's bookkeeping must not grow with the calls.
        limit = ["sh", "-c", 'ulimit -v 1000000 && exec "$0" "$@"', COMMAND]
        done = subprocess.run([*limit, "bench", "--reps=20", "--min-time=0.1", "--case", CELL], capture_output=True,
                              text=True, timeout=120, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("cpu: 1 of 1 workloads timed", done.stdout)

    def test_medians_are_of_the_repetitions(self):
        _, benchmarks, _, _ = self.bench(0, "--case", CELL)
        times = sorted(one["real_time"] for one in benchmarks if one["run_type"] == "iteration")
        medians = [one for one in benchmarks if one.get("aggregate_name") == "median"]
        self.assertEqual([one["name"].endswith("_median") for one in medians], [True])
        self.assertAlmostEqual(medians[0]["real_time"], times[1], delta=1e-9 * times[1])

    def test_a_saboteur_has_no_time(self):
        stdout, benchmarks, _, samples = self.bench(1, "--impl=saboteur:A1.cell,cpu", "--case", CELL)
        wrong = [one for one in benchmarks if one["name"].startswith("saboteur:A1.cell/")]
        self.assertEqual(len(wrong), 1)
        self.assertTrue(wrong[0]["error_occurred"])
        self.assertTrue(wrong[0]["error_message"].startswith("FAILED: "))
        self.assertEqual(wrong[0]["real_time"], 0)
        mine = [line for line in samples[1:] if line["implementation"] == "saboteur:A1.cell"]
        self.assertEqual([line.get("verdict") for line in mine], ["FAILED"])
        self.assertIn("FAILED", stdout)
        self.assertIn("cpu: 1 of 1 workloads timed", stdout)

    def test_what_is_not_claimed_is_skipped(self):
        _, benchmarks, _, _ = self.bench(5, "--strict", "--impl=saboteur:A1.cell", "--case", BLOCK)
        self.assertTrue(benchmarks[0]["error_message"].startswith("SKIPPED: "))

    def test_shared_libraries(self):
        _, benchmarks, _, _ = self.bench(0, f"--impl={PLAIN},plain", "--case", CELL)
        self.assertEqual({one["name"].split("/")[0] for one in benchmarks}, {"plain", "plain#2"})
        stdout, benchmarks, _, _ = self.bench(1, f"--impl={C_PLUGINS / 'crashing_plugin.so'},cpu", "--case", CELL)
        self.assertIn("BROKEN: crash", stdout)
        self.assertIn("cpu: 1 of 1 workloads timed", stdout)

    def test_threads_that_are_left_spinning_do_not_run_while_others_are_timed(self):
        counter = self.folder / "counter"
        counter.write_bytes(bytes(8))
        _, benchmarks, _, samples = self.bench(
            0, f"--impl={PLUGINS / 'leaves_threads_spinning.so'},{PLUGINS / 'needs_quiet.so'}", "--threads=2", "--case",
            CELL, environment={"BACKGAUGE_TEST_COUNTER": str(counter)})
        self.assertEqual([(line["implementation"], line["verdict"], line["reason"]) for line in samples if "verdict" in line],
                         [("leaves_threads_spinning", "PASSED", ""), ("needs_quiet", "PASSED", "")])
        self.assertGreater(int.from_bytes(counter.read_bytes(), "little"), 0)

    def test_results_survive_what_an_implementation_does_to_its_process(self):
        for isolate in ("auto", "off"):
            with self.subTest(isolate=isolate):
                done = self.expect(0, "bench", *SHORT, f"--isolate={isolate}", "--out=here.json",
                                   f"--impl={PLUGINS / 'ruins_its_process.so'},cpu", "--case", CELL, cwd=self.folder)
                self.assertIn("cpu: 1 of 1 workloads timed", done.stdout)
                document = json.loads((self.folder / "here.json").read_text())
                self.assertEqual({one["name"].split("/")[0] for one in document["benchmarks"]},
                                 {"ruins_its_process", "cpu"})
                self.assertEqual({one["error_occurred"] for one in document["benchmarks"] if "error_occurred" in one},
                                 set())
                (self.folder / "here.json").unlink()

    def test_results_survive_a_closed_stdout(self):
        out = self.folder / "run.json"
        shell = ["sh", "-c", 'exec "$0" "$@" >&-', COMMAND, "bench", *SHORT, f"--out={out}", "--case", CELL]
        done = subprocess.run(shell, stderr=subprocess.PIPE, text=True, timeout=120, env=ENVIRONMENT)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        self.assertNotIn("internal error", done.stderr)
        self.assertEqual(len([one for one in json.loads(out.read_text())["benchmarks"] if one["run_type"] == "iteration"]), 3)

    def test_too_much_work_is_skipped(self):
        stdout, _, _, _ = self.bench(0, "--case", BLOCK, "--H=4096", "--max-work=0.001")
        self.assertIn("SKIPPED", stdout)
        self.assertIn("--max-work", stdout)

    def test_unjudged_rows_are_marked_and_without_a_ratio(self):
        stdout, benchmarks, _, samples = self.bench(0, "--unjudged", "--impl=cpu,saboteur:A1.cell", "--case", CELL)
        runs = [one for one in benchmarks if one["run_type"] == "iteration"]
        self.assertEqual([one["unjudged"] for one in runs], [1] * 6)
        self.assertFalse(any("error_over_bound" in one for one in benchmarks))
        self.assertEqual([(line["verdict"], line["error_over_bound"]) for line in samples if "verdict" in line],
                         [("UNJUDGED", None)] * 2)
        self.assertEqual(len([line for line in stdout.splitlines() if line.endswith("unjudged         -")]), 2, stdout)
        self.assertIn("saboteur:A1.cell: 1 of 1 workloads timed, not judged\n", stdout)
        self.assertNotIn("times as fast", stdout)

    def test_counts_repeat_and_find_one_percent(self):
        counts, cell = self.folder / "counts.jsonl", "lstm_block_cell_grad b32i128h128 dt=f32 data=strat:0x1"

        def counted(implementations, **environment):
            done = self.expect(0, "bench", "--measure=instructions", f"--impl={implementations}", "--case", cell, f"--out={counts}", environment=environment)
            self.assertIn(": terms of lstm_block_cell_grad: accuracy class ", done.stdout)
            head, *entries = [json.loads(line) for line in counts.read_text().splitlines()]
            self.assertEqual(head["schema"], "backgauge.counts/1")
            self.assertTrue(any(key.startswith("terms/") for key in head["context"]))
            return [entry["instructions"] for entry in entries]

        probe = subprocess.run([COMMAND, "bench", "--measure=instructions", "--case", cell], capture_output=True, text=True, env=ENVIRONMENT)
        if probe.returncode == 3:
            self.skipTest(probe.stderr.strip())
        base, again = counted("cpu,cpu")
        self.assertLess(max(base + again) / min(base + again), 1.001)
        # The plug-in has its own copy of cpu, compiled differently: it is compared with itself.
        less, = counted(PLUGINS / "takes_longer.so", BACKGAUGE_TEST_INSTRUCTIONS="2")
        more, = counted(PLUGINS / "takes_longer.so", BACKGAUGE_TEST_INSTRUCTIONS=str(0.01 * less[0]))
        self.assertAlmostEqual(more[0] / less[0], 1.01, delta=0.001)

    def test_blocks_are_sets_of_processes(self):
        _, _, _, samples = self.bench(0, "--blocks=2", "--impl=cpu,cpu", "--case", CELL)
        blocks = [(line["round"], line["block"]) for line in samples if line.get("implementation") == "cpu#2" and "seconds" in line]
        self.assertEqual(blocks, [(k, k // 3) for k in range(6)])
        self.assertTrue(all(line["cpu_seconds"] > 0 and line["waits"] >= 0 for line in samples if "seconds" in line))

    def test_unjudged_has_no_limit_of_work(self):
        large = ["--impl=saboteur:A1.cell", "--case", "block_lstm_grad_v2 t100b64i850h850 dt=f32 data=strat:0x1"]
        for more, reason in (([], "GFLOP, more than --max-work=60"), (["--unjudged"], "is not claimed"),
                             (["--unjudged", "--max-work=100"], "GFLOP, more than --max-work=100")):
            with self.subTest(more=more):
                stdout, _, _, _ = self.bench(0, *large, *more)
                self.assertRegex(stdout, f"saboteur:A1.cell +SKIPPED: .*{reason}")

    def test_unjudged_still_refuses_what_cannot_run(self):
        stdout, _, _, _ = self.bench(1, "--unjudged", f"--impl=saboteur:A1.cell,{C_PLUGINS / 'crashing_plugin.so'}", "--case",
                                     BLOCK, "--case", CELL)
        self.assertRegex(stdout, r"saboteur:A1.cell +SKIPPED: ")
        self.assertIn("BROKEN: crash", stdout)

    def test_ranges(self):
        names = self.expect(0, "bench", "--suite=rnnt", "--B=16", "--H=256:1024:*2", "--dtype=f32,f16",
                            "--benchmark_filter=t256.*i240", "--benchmark_list_tests").stdout.split()
        self.assertEqual(len(names), 3 * 2)
        self.assertIn("rnnt/cudnn_rnn_backprop,t256b16i240h512,mode=lstm,dir=uni,layers=1,in=linear,dt=f16,data=strat:0x1",
                      names)

    def test_suites(self):
        for suite, count in [("nine", 9), ("tf-grid", 144), ("deepbench", 53), ("all", 800)]:
            names = self.expect(0, "bench", f"--suite={suite}", "--benchmark_list_tests").stdout.split()
            self.assertGreaterEqual(len(names), count)

    def test_cold_caches_and_threads(self):
        _, benchmarks, context, samples = self.bench(0, "--cache=cold", "--threads=2", "--case", CELL)
        self.assertEqual((context["cache_mode"], context["threads"]), ("cold", "2"))
        self.assertEqual({line["calls"] for line in samples if "seconds" in line}, {1})
        self.assertEqual(benchmarks[0]["threads"], 2)

    def test_formats_of_the_library(self):
        out = self.folder / "their.json"
        done = self.expect(0, "bench", "--case", CELL, "--benchmark_format=json", "--benchmark_min_time=0.0001",
                           "--benchmark_repetitions=2", f"--benchmark_out={out}")
        self.assertEqual(json.loads(done.stdout)["benchmarks"], json.loads(out.read_text())["benchmarks"])
        self.assertEqual(json.loads(done.stdout)["benchmarks"][0]["repetitions"], 2)
        self.assertTrue((self.folder / "their.samples.jsonl").exists())
        console = self.expect(0, "bench", *SHORT, "--case", CELL, "--benchmark_format=console").stdout
        self.assertIn("cpu/case/lstm_block_cell_grad", console)
        self.assertIn("_median", console)

    def test_deadline(self):
        many = ["--suite=tf-grid", "--T=2", "--H=16:1024:16", "--max-work=0.01", "--max-time=1s"]
        stdout, benchmarks, context, _ = self.bench(5, *many, "--strict")
        self.assertIn("not run: ", stdout)
        self.assertEqual(context["ended"], "max-time")
        self.assertGreater(int(context["workloads_planned"]), len({entry["label"] for entry in benchmarks}))

    def test_interruption_leaves_whole_files(self):
        out = self.folder / "run.json"
        process = subprocess.Popen([COMMAND, "bench", "--case", CELL, "--reps=10000", f"--out={out}"],
                                   env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)  # wherever it is by then
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, stdout + stderr)
        self.assertIn("interrupted after", stdout)
        self.assertEqual(json.loads(out.read_text())["context"]["ended"], "interrupted")

    def test_interruption_is_answered_while_inputs_are_made(self):
        large = "block_lstm_grad_v2 t200b32i2048h2048 dt=f16 data=training:0x1"  # 430 GFLOP: 19 s on two cores of an AMD EPYC
        out = self.folder / "run.json"
        process = subprocess.Popen([COMMAND, "bench", "--unjudged", "--impl=cpu", "--case", large, f"--out={out}"],
                                   env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (self.folder / "run.samples.jsonl").exists():
            time.sleep(0.01)
        time.sleep(1)  # limits are measured in a third of a second, and then inputs are made
        process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        stdout, stderr = process.communicate(timeout=120)
        self.assertLess(time.monotonic() - begin, 2, stdout + stderr)
        self.assertEqual(process.returncode, 130, stdout + stderr)
        self.assertIn("interrupted after", stdout)


HONEST = """import os, sys
import backgauge
assert os.environ["OMP_NUM_THREADS"] == os.environ["BACKGAUGE_TEST_THREADS"], os.environ["OMP_NUM_THREADS"]
__version__ = os.environ["BACKGAUGE_TEST_VENV"]
sys.path.insert(0, os.environ["BACKGAUGE_TEST_KERNELS"])
from cells import gradient

@backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"])
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    result = gradient(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole)
    return result
"""


@unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
@unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
class AdaptersTest(Runs):
    def setUp(self):
        super().setUp()
        texts = {"honest": HONEST, "wrong": HONEST.replace("    return", "    result['cs_prev_grad'] += 1\n    return"),
                 "absent": "import framework_that_is_not_here\n"}
        for name, text in texts.items():
            adapter = self.folder / "adapters" / "framework" / f"adapter_{name}.py"
            adapter.parent.mkdir(parents=True, exist_ok=True)
            adapter.write_text(text)
        python = self.folder / "home" / "framework" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nBACKGAUGE_TEST_VENV=1.2 exec {PYTHON} "$@"\n')
        python.chmod(0o755)
        self.environment = {"BACKGAUGE_ADAPTERS": str(self.folder / "adapters"), "BACKGAUGE_PEERS_HOME": str(self.folder / "home"),
                            "BACKGAUGE_TEST_KERNELS": str(HERE.parent / "kernels"), "BACKGAUGE_TEST_THREADS": "2"}

    def test_they_run_in_their_environments_on_all_threads_and_absence_is_no_failure(self):
        _, _, _, samples = self.bench(1, "--impl=cpu,honest,wrong,absent", "--case", CELL, "--threads=2", environment=self.environment)
        verdicts = {line["implementation"]: line for line in samples if "verdict" in line}
        self.assertEqual({name: line["verdict"] for name, line in verdicts.items()},
                         {"cpu": "PASSED", "honest": "PASSED", "wrong": "FAILED", "absent": "SKIPPED"})
        self.assertRegex(verdicts["absent"]["reason"], "^absent: .*ModuleNotFoundError: No module named 'framework_that_is_not_here'")
        timed = {line["implementation"]: line["version"] for line in samples if "seconds" in line}
        self.assertEqual(set(timed), {"cpu", "honest"})
        self.assertEqual(timed["honest"], "1.2")
        self.assertEqual([len(verdicts[name].get("launch_seconds", [])) for name in ("cpu", "honest", "wrong")], [3, 3, 0])
        self.assertNotIn("empty_call_seconds", verdicts["cpu"])
        self.assertGreater(verdicts["honest"]["empty_call_seconds"], 0)

    def test_every_subcommand_knows_the_names(self):
        on_one = {**self.environment, "BACKGAUGE_TEST_THREADS": "1"}
        self.expect(0, "repro", CELL, "--impl=honest", environment=on_one)
        self.expect_complaint(3, "or an adapter: absent honest wrong", "verify", "--impl=nobody", environment=self.environment)
        shown = self.expect(0, "doctor", environment=on_one).stdout
        self.assertRegex(shown, r"\nadapters\n  no  absent .*ModuleNotFoundError.*\n  yes honest +1\.2\n  yes wrong +1\.2\n")


class WrongUsage(CommandTest):
    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses before it looks")
    def test_arguments(self):
        for arguments, word in BROKEN_ARGUMENTS:
            with self.subTest(arguments=arguments):
                self.expect_complaint(2, word, "bench", *arguments)

    @unittest.skipUnless(SANITIZED, "only builds with sanitizers must not be timed; this is none")
    def test_builds_that_mean_nothing(self):
        self.expect_complaint(2, "sanitizers", "bench")

    def test_help(self):
        help_text = self.expect(0, "bench", "--help").stdout
        for word in ("--impl", "--suite", "--quick", "--benchmark_filter"):
            self.assertIn(word, help_text)


if __name__ == "__main__":
    unittest.main()
