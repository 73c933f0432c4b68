# SPDX-License-Identifier: Apache-2.0
"""ci/gpu-check where there is no GPU, and its table on records as a GPU would give them."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "gpu-check"
PHASES = ["environment", "build", "verify-smoke", "verify-ci", "probe", "calls", "sanitizer", "constants", "bench-block",
          "bench-cudnn", "bench-steps", "torch", "table"]
ON_DEVICE = PHASES[2:12]

# Without its own: what is tried is a machine without libcuda, whatever this one has.
HIDDEN = """import ctypes, runpy, sys
def missing(name, *more, **options): raise OSError(name)
ctypes.CDLL = missing
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, *arguments):
        return subprocess.run([sys.executable, "-c", HIDDEN, SCRIPT, f"--out={self.folder}", *arguments], text=True,
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
                     "BACKGAUGE_CUDA_MATH=fp16 backgauge bench --unjudged --suite=gpu --benchmark_filter=gpu/(block|lstm) "
                     "--dtype=f16,f32 --impl=cuda,cublas --reps=30 --launches=1 --min-time=2 --cache=hot",
                     "BACKGAUGE_CUDA_MATH=3xtf32 backgauge bench --unjudged --suite=gpu --benchmark_filter=gpu/cudnn --dtype=f32 "
                     "--impl=cuda --reps=10",
                     "BACKGAUGE_CUDA_MATH=fp16 BACKGAUGE_CUDA_STEPS=cluster-16 backgauge verify --impl=cuda --tier=smoke",
                     "BACKGAUGE_CUDA_MATH=fp16 BACKGAUGE_CUDA_STEPS=each backgauge bench --unjudged --suite=gpu",
                     "BACKGAUGE_CUDA_MATH=fp16 BACKGAUGE_CUDA_STEPS=cluster-16 backgauge bench --unjudged --suite=gpu"):
            self.assertIn(word, done.stdout)
        self.assertFalse((self.folder / "build").exists())

    def test_without_a_device_what_needs_one_is_skipped_with_the_reason(self):
        done = self.check("--only=" + ",".join(["environment", *ON_DEVICE, "table"]))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        records = self.records()
        for name in ON_DEVICE:
            self.assertEqual((records[name]["status"], records[name]["commands"]), ("SKIPPED", []), name)
            self.assertIn("no NVIDIA driver", records[name]["reason"])
        self.assertEqual(records["environment"]["status"], "PASSED")
        self.assertLessEqual(len(records["table"]["facts"]["lines"]), 30)

    def test_wrong_usage(self):
        done = self.check("--only=nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing", done.stderr)

    def test_the_table_has_times_and_bandwidth_and_compares_nothing(self):
        line = lambda name, workload, *micros: "".join(
            json.dumps({"workload": f"{workload} data=training:0x1", "implementation": name, "seconds": micro / 1e6}) + "\n"
            for micro in micros)
        block = "block_lstm_grad_v2 t25b64i512h512 peep=0 order=ifco seq=25 dt={}"
        rnn = "cudnn_rnn_backprop t25b64i512h512 mode=lstm dir=uni layers=1 in=linear dt=f16"
        for name, text in (
                ("bench-block", 'a warning of a library\n{"schema": "backgauge.samples/1"}\n'
                 + line("cuda", block.format("f16"), 100, 200, 900) + line("cublas", block.format("f16"), 1300)
                 + line("cuda", "lstm_block_cell_grad b1024i4096h4096 peep=0 dt=f32", 60) + '{"cut off'),
                ("bench-block-in-float", line("cuda", block.format("f16"), 400)),
                ("bench-block-tf32", line("cuda", block.format("f32"), 300)),
                ("bench-block-3xtf32", line("cuda", block.format("f32"), 500)),
                ("bench-steps-cluster-8", line("cuda", block.format("f32"), 70)),
                ("bench-cudnn", line("cuda", rnn, 210) + line("cudnn", rnn, 105)), ("torch", line("torch", rnn, 220))):
            (self.folder / f"{name}.samples.jsonl").write_text(text)
        (self.folder / "constants-values.json").write_text(json.dumps({"copy_1GiB": {"value": 4000.0}}))
        done = self.check("--only=table")
        self.assertRegex(done.stdout, r"t25b64i512h512 +f16 +200\.0 +1300\.0 +210\.0 +105\.0 +220\.0  in-float 400\.0\n")
        self.assertRegex(done.stdout, r"t25b64i512h512 +f32 +- +- +- +- +-  tf32 300\.0, 3xtf32 500\.0, cluster-8 70\.0\n")
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
