# SPDX-License-Identifier: Apache-2.0
"""ci/gpu-check where there is no GPU, and its table on records as a GPU would give them."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "gpu-check"
PHASES = ["environment", "build", "verify-smoke", "cudnn", "sizes", "torch", "calls", "verify-ci", "sanitizer", "probe", "constants",
          "bench-block", "bench-cudnn", "bench-steps", "table"]
ON_DEVICE = PHASES[2:14]

# Without its own: what is tried is a machine without libcuda, whatever this one has; or with one device, to which nothing is sent.
HIDDEN = """import ctypes, runpy, sys
def missing(name, *more, **options): raise OSError(name)
ctypes.CDLL = missing
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
PRETENDED = """import ctypes, runpy, sys
class Driver:
    def __init__(self, name): pass
    def cuInit(self, flags): return 0
    def cuDeviceGetCount(self, count): count._obj.value = 1
ctypes.CDLL = Driver
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# Writes down each call, and does as `backgauge` would: `verify` waits until BACKGAUGE_TEST_TOGETHER of them have begun; `bench` times two
# workloads, and then its time is over.
BACKGAUGE = """#!{python}
import json, os, pathlib, sys, time
words = dict(word.partition("=")[::2] for word in sys.argv[2:])
if sys.argv[1] == "verify":
    pathlib.Path(words["--out"]).mkdir(exist_ok=True)
    pathlib.Path(words["--out"], "records.jsonl").touch()
    while len(list(pathlib.Path(words["--out"]).parent.glob("verify-*/records.jsonl"))) < int(os.environ.get("BACKGAUGE_TEST_TOGETHER", "1")):
        time.sleep(0.1)
    print("summary: 3 passed, 0 failed")
else:
    cases = [word.removeprefix("--case=") for word in sys.argv[2:] if word.startswith("--case=")]
    samples = pathlib.Path(words["--out"]).with_suffix(".samples.jsonl")
    samples.write_text("".join(json.dumps({{"workload": case + " chk=1234", "implementation": "cuda", "seconds": 1e-4}}) + "\\n" for case in cases[:2]))
with open({calls!r}, "a") as file:
    file.write(json.dumps({{"arguments": sys.argv[1:], "math": os.environ.get("BACKGAUGE_CUDA_MATH")}}) + "\\n")
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, *arguments, machine=HIDDEN):
        return subprocess.run([sys.executable, "-c", machine, SCRIPT, f"--out={self.folder}", *arguments], text=True,
                              capture_output=True, timeout=300, check=False)

    def records(self):
        return {record["phase"]: record for record in
                (json.loads(path.read_text()) for path in sorted(self.folder.glob("[0-9]*.json")))}

    def test_a_dry_run_says_everything_and_does_nothing(self):
        done = self.check("--dry-run")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        records = self.records()
        self.assertEqual(list(records), PHASES)
        for name in PHASES[:-1]:
            self.assertEqual(records[name]["status"], "SKIPPED", name)
            self.assertIn("dry run", records[name]["reason"])
        for word in ("verify --impl=cuda --tier=smoke", "verify --impl=cudnn --tier=ci", "--tool=memcheck", "torch_lstm.py",
                     "backgauge-cudnn-probe", "BACKGAUGE_CUDA_MATH=3xtf32,fp16 backgauge verify --impl=cuda --tier=smoke",
                     "BACKGAUGE_CUDA_MATH=3xtf32,fp16 BACKGAUGE_TEST_DEVICE_IMPL=cuda device_call_test --gtest_filter=*\n",
                     "BACKGAUGE_TEST_DEVICE_IMPL=cudnn device_call_test --gtest_filter=*Repeats*",
                     "BACKGAUGE_CUDNN_ALGO=persist-small-h BACKGAUGE_CUDNN_GRAPH=off backgauge verify --impl=cudnn --tier=smoke",
                     "BACKGAUGE_CUDNN_ALGO=standard BACKGAUGE_CUDNN_GRAPH=on BACKGAUGE_CUDNN_MATH=tensor-op backgauge bench --unjudged --impl=cudnn ",
                     "BACKGAUGE_CUDA_MATH=fp16 backgauge bench --unjudged --impl=cuda,cudnn-best,cublas --reps=5 --launches=1 --min-time=2 --cache=hot",
                     "BACKGAUGE_CUDA_MATH=tf32 BACKGAUGE_CUDNN_MATH=tensor-op backgauge bench --unjudged --impl=cuda,cudnn-best --reps=5",
                     "BACKGAUGE_CUDA_MATH=3xtf32 backgauge bench --unjudged --impl=cuda --reps=10",
                     "BACKGAUGE_CUDA_MATH=fp16 BACKGAUGE_CUDA_STEPS=cluster-16 backgauge verify --impl=cuda --tier=smoke",
                     "BACKGAUGE_CUDA_MATH=fp16 BACKGAUGE_CUDA_STEPS=each backgauge bench --unjudged --impl=cuda",
                     "BACKGAUGE_CUDA_MATH=fp16 BACKGAUGE_CUDA_STEPS=cluster-16 backgauge bench --unjudged --impl=cuda"):
            self.assertIn(word, done.stdout)
        first = sum(records[name]["limit_seconds"] for name in ("environment", "verify-smoke", "cudnn", "sizes", "torch"))
        self.assertLessEqual(first, 300)
        self.assertFalse((self.folder / "build").exists())

    def test_without_a_device_what_needs_one_is_skipped_with_the_reason(self):
        done = self.check("--only=" + ",".join(["environment", *ON_DEVICE, "table"]))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        records = self.records()
        for name in ON_DEVICE:
            self.assertEqual((records[name]["status"], records[name]["commands"]), ("SKIPPED", []), name)
            self.assertIn("no NVIDIA driver", records[name]["reason"])
        self.assertEqual(records["environment"]["status"], "PASSED")
        self.assertEqual(len(records["table"]["facts"]["lines"]), len(PHASES) - 2)  # but those of build and of the table

    def pretend(self):
        """Programs and plug-ins that do nothing but write down that they were called."""
        (self.folder / "there/bin").mkdir(parents=True)
        program = self.folder / "there/bin/backgauge"
        program.write_text(BACKGAUGE.format(python=sys.executable, calls=str(self.folder / "calls.jsonl")))
        program.chmod(0o755)
        for name in ("cuda", "cudnn", "cublas"):
            (self.folder / f"there/bin/libbackgauge_{name}.so").write_text(name)

    def calls(self):
        """Those that were made since this was asked last."""
        file = self.folder / "calls.jsonl"
        found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    def on_a_device(self, *arguments):
        done = self.check(f"--binaries={self.folder / 'there'}", *arguments, machine=PRETENDED)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_all_settings_are_judged_at_the_same_time_and_once(self):
        self.pretend()
        with unittest.mock.patch.dict(os.environ, BACKGAUGE_TEST_TOGETHER="6"):
            self.on_a_device("--only=verify-smoke")
        calls = self.calls()
        self.assertEqual(len(calls), 6)
        self.assertEqual({call["math"] for call in calls}, {None, "tf32,fp16", "3xtf32,fp16", "fp16"})
        facts = self.records()["verify-smoke"]["facts"]
        self.assertEqual(set(facts.values()), {"summary: 3 passed, 0 failed"})
        self.on_a_device("--only=verify-smoke")
        self.assertEqual(self.calls(), [])
        self.assertEqual(self.records()["verify-smoke"]["facts"], facts)
        (self.folder / "there/bin/libbackgauge_cublas.so").write_text("another one")
        self.on_a_device("--only=verify-smoke")
        self.assertEqual(["libbackgauge_cublas" in str(call["arguments"]) for call in self.calls()], [True])
        self.on_a_device("--only=verify-smoke", "--again")
        self.assertEqual(len(self.calls()), 6)

    def test_what_was_timed_is_not_timed_again(self):
        self.pretend()
        self.on_a_device("--only=sizes")
        self.on_a_device("--only=sizes")
        first, tf32, second, _ = ([word for word in call["arguments"] if word.startswith("--case=")] for call in self.calls())
        self.assertEqual((len(first), len(tf32)), (84, 42))
        self.assertEqual(second, first[2:])
        self.assertEqual(self.records()["sizes"]["facts"], {"sizes": "4 of 84 workloads", "sizes-tf32": "4 of 42 workloads"})
        (self.folder / "there/bin/libbackgauge_cuda.so").write_text("another one")
        self.on_a_device("--only=sizes")
        self.assertEqual(self.records()["sizes"]["facts"]["sizes"], "2 of 84 workloads")

    def test_what_does_not_fit_is_skipped_and_the_table_comes_all_the_same(self):
        self.pretend()
        self.on_a_device("--only=verify-smoke,sizes,table", "--minutes=0.1")
        records = self.records()
        self.assertEqual([(record["status"], record["reason"]) for record in records.values()],
                         [("SKIPPED", "no time was left: --minutes")] * 2 + [("PASSED", "")])
        self.on_a_device("--only=verify-smoke")
        done = self.on_a_device("--only=verify-smoke,table", "--minutes=0.1")
        self.assertIn("of an earlier run stays", done.stdout)
        self.assertEqual(self.records()["verify-smoke"]["status"], "PASSED")

    def test_after_an_interrupt_the_table_comes_all_the_same(self):
        self.pretend()
        process = subprocess.Popen([sys.executable, "-c", PRETENDED, SCRIPT, f"--out={self.folder}", f"--binaries={self.folder / 'there'}",
                                    "--only=verify-smoke,sizes,table"], text=True, stdout=subprocess.PIPE,
                                   env={**os.environ, "BACKGAUGE_TEST_TOGETHER": "100"})
        self.addCleanup(process.stdout.close)
        while not list(self.folder.glob("verify-smoke-*/records.jsonl")):
            time.sleep(0.05)
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 1)
        records = self.records()
        self.assertEqual(list(records), ["verify-smoke", "table"])
        self.assertEqual((records["verify-smoke"]["status"], records["verify-smoke"]["reason"]), ("TIMEOUT", "interrupted"))

    def test_wrong_usage(self):
        done = self.check("--only=nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing", done.stderr)

    def test_the_table_has_the_ratio_to_the_best_peer(self):
        line = lambda name, workload, *micros: "".join(
            json.dumps({"workload": f"{workload} data=training:0x1", "implementation": name, "seconds": micro / 1e6}) + "\n"
            for micro in micros)
        block = "block_lstm_grad_v2 t25b64i512h512 peep=0 order=ifco seq=25 dt={}"
        rnn = "cudnn_rnn_backprop t25b64i512h512 mode=lstm dir=uni layers=1 in=linear dt={}"
        for name, text in (
                ("bench-block.1", 'a warning of a library\n{"schema": "backgauge.samples/1"}\n'
                 + line("cuda", block.format("f16"), 100, 200, 900) + line("cublas", block.format("f16"), 1300)
                 + line("cuda", "lstm_block_cell_grad b1024i4096h4096 peep=0 dt=f32", 60) + '{"cut off'),
                ("bench-block-in-float.1", line("cuda", block.format("f16"), 400)),
                ("bench-block-cold.1", line("cuda", block.format("f16"), 1)),
                ("bench-block-3xtf32.1", line("cuda", block.format("f32"), 500)),
                ("sizes.1", line("cuda", rnn.format("f16"), 210) + line("cudnn-best", rnn.format("f16"), 120)),
                ("sizes.2", line("cuda", rnn.format("f32"), 300)),
                ("sizes-tf32.1", line("cuda", rnn.format("f32"), 50) + line("cudnn-best", rnn.format("f32"), 80)),
                ("cudnn-persist-static-graph.1", line("cudnn", rnn.format("f16"), 105)),
                ("cudnn-standard-graph-TF32.1", line("cudnn", rnn.format("f32"), 70)),
                ("bench-steps-cluster-8.1", line("cuda", rnn.format("f16"), 84)),
                ("torch", line("torch", rnn.format("f16"), 220) + line("torch", rnn.format("f32"), 450) + line("torch-tf32", rnn.format("f32"), 60))):
            (self.folder / f"{name}.samples.jsonl").write_text(text)
        (self.folder / "constants-values.json").write_text(json.dumps({"copy_1GiB": {"value": 4000.0}}))
        done = self.check("--only=table")
        self.assertRegex(done.stdout, r"block_lstm_grad_v2 +t25b64i512h512 +f16 +200\.0 +1300\.0 +6\.50  cuda fp16; cublas\n")
        self.assertRegex(done.stdout, r"block_lstm_grad_v2 +t25b64i512h512 +3xTF32 +500\.0 +- +-  cuda 3xtf32\n")
        self.assertRegex(done.stdout, r"backprop +t25b64i512h512 +f16 +84\.0 +105\.0 +1\.25  cuda fp16 cluster-8; cudnn persist-static graph\n")
        self.assertRegex(done.stdout, r"backprop +t25b64i512h512 +f32 +300\.0 +450\.0 +1\.50  cuda fp16; torch\n")
        self.assertRegex(done.stdout, r"backprop +t25b64i512h512 +TF32 +50\.0 +60\.0 +1\.20  cuda tf32; torch\n")
        self.assertIn("cudnn_rnn_backprop TF32: 1 shapes, ratio to the best peer 1.20 (geometric mean), least 1.20, 1 or more in 1\n", done.stdout)
        # 13 tensors of 1024 x 4096 floats in 60 us.
        self.assertIn("lstm_block_cell_grad b1024i4096h4096 f32: 3635 GB/s, 91 % of the copy bandwidth", done.stdout)

    def test_what_is_packed_runs_with_the_libraries_that_were_packed(self):
        command = pathlib.Path(os.environ["BACKGAUGE_COMMAND"])
        done = self.check(f"--pack={self.folder / 'pack'}", f"--build={command.parent}")
        self.assertEqual(done.returncode, 0, done.stderr)
        packed = self.folder / "elsewhere"
        (self.folder / "pack").rename(packed)
        nothing = {"env": {}, "cwd": packed, "capture_output": True, "text": True, "timeout": 60, "check": False}
        linked = subprocess.run(["/usr/bin/ldd", packed / "bin" / "backgauge"], **nothing).stdout
        found = dict(re.findall(r"(\S+) => (\S+)", linked))
        self.assertGreater(len(found), 3, linked)
        for name, place in found.items():
            of_the_c_library = re.match(r"lib(c|m|dl|rt|pthread)\.so", name)
            self.assertEqual(place.startswith(f"{packed}/"), not of_the_c_library, f"{name} => {place}")
        case = "lstm_block_cell_grad b2i3h4 dt=f32 data=strat:0x1"
        done = subprocess.run([packed / "bin" / "backgauge", "verify", f"--case={case}"], **nothing)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_packing_what_is_not_there(self):
        done = self.check(f"--pack={self.folder / 'pack'}", f"--build={self.folder}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing of", done.stderr)


if __name__ == "__main__":
    unittest.main()
