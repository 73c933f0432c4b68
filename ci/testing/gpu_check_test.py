# SPDX-License-Identifier: Apache-2.0
"""ci/gpu-check where there is no GPU, and its table on records as a GPU would give them."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "gpu-check"
PHASES = ["environment", "build", "verify-smoke", "verify-ci", "probe", "repeat", "capture", "sanitizer", "constants",
          "bench-block", "bench-cudnn", "torch", "table"]
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
        for word in ("verify --impl=cuda --tier=smoke", "verify --impl=cudnn --tier=ci", "--tool=memcheck", "backgauge-gpu-trial time",
                     "cudnn_rnn_backprop:1024,16,768,768:f16", "torch_lstm.py", "backgauge-cudnn-probe",
                     "BACKGAUGE_CUDA_MATH=3xtf32,fp16 backgauge verify --impl=cuda --tier=smoke",
                     "BACKGAUGE_CUDA_MATH=fp16 backgauge-gpu-trial time --impl=cuda,cublas --rounds=30",
                     "BACKGAUGE_CUDA_MATH=3xtf32 backgauge-gpu-trial time --impl=cuda --rounds=10"):
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

    def test_the_table_tells_times_ratios_and_bandwidth(self):
        line = lambda name, shape, median, **more: json.dumps(
            {"shape": shape, "implementation": name, "hot_us": {"median": median}, **more})
        (self.folder / "bench-block.jsonl").write_text("\n".join([
            "a warning of a library",
            line("cuda", "block_lstm_grad_v2:25,64,512,512:f16", 200.0),
            line("cublas", "block_lstm_grad_v2:25,64,512,512:f16", 1300.0),
            line("cuda", "lstm_block_cell_grad:1,1024,4096,4096:f32", 60.0, gbps=3800.0), '{"cut off']))
        (self.folder / "bench-block-in-float.jsonl").write_text(line("cuda", "block_lstm_grad_v2:25,64,512,512:f16", 400.0))
        for word, median in (("tf32", 300.0), ("3xtf32", 500.0)):
            shape = "block_lstm_grad_v2:25,64,512,512:f32"
            (self.folder / f"bench-block-{word}.jsonl").write_text(line("cuda", shape, median))
        (self.folder / "bench-cudnn.jsonl").write_text("\n".join([
            line("cuda", "cudnn_rnn_backprop:25,64,512,512:f16:lstm", 210.0),
            line("cudnn", "cudnn_rnn_backprop:25,64,512,512:f16:lstm", 105.0)]))
        (self.folder / "constants-values.json").write_text(json.dumps({"copy_1GiB": {"value": 4000.0}}))
        done = self.check("--only=table")
        self.assertRegex(done.stdout, r"25,64,512,512 +f16 +200\.0 +6\.50 +105\.0 +- +0\.50 +in-float 400\.0")
        self.assertRegex(done.stdout, r"25,64,512,512 +f32 .* tf32 300\.0, 3xtf32 500\.0")
        self.assertIn("3800 GB/s, 95 % of the copy bandwidth", done.stdout)

    def test_packing_what_is_not_there(self):
        done = self.check(f"--pack={self.folder / 'pack'}", f"--build={self.folder}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing of", done.stderr)


if __name__ == "__main__":
    unittest.main()
