# SPDX-License-Identifier: Apache-2.0
"""The plug-ins cudnn and cudnn-best with a stand-in for cuDNN (impl/cudnn/testing), on the fake device."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from command import CommandTest, run

PLUGIN, BEST = os.environ["BACKGAUGE_TEST_CUDNN"].split(",")
CASES = pathlib.Path(__file__).resolve().parents[3] / "impl" / "cudnn" / "testing" / "cases.txt"
LINES = [f"--case={line}" for line in CASES.read_text().splitlines() if line and not line.startswith("#")]
# The bits of a call repeat, and say so.
BITWISE = {"CUBLAS_WORKSPACE_CONFIG": ":16:8"}
DEVICE = {"BACKGAUGE_CUDART": os.environ["BACKGAUGE_TEST_CUDART"]}
SETTINGS = ({}, {"BACKGAUGE_CUDNN_GRAPH": "on"}, {"BACKGAUGE_CUDNN_ALGO": "persist-static", "BACKGAUGE_CUDNN_GRAPH": "on"},
            {"BACKGAUGE_CUDNN_ALGO": "persist-small-h", "BACKGAUGE_CUDNN_MATH": "tensor-op"},
            {"BACKGAUGE_CUDNN_ALGO": "persist-dynamic", "BACKGAUGE_CUDNN_MATH": "default"})


class Verify(CommandTest):
    def test_is_right_in_every_setting(self):
        for settings in SETTINGS:
            with self.subTest(settings=settings):
                done = self.expect(0, "verify", f"--impl={PLUGIN}", *LINES, environment=DEVICE | BITWISE | settings)
                passed = int(re.search(r"summary: (\d+) passed, 0 failed, \d+ mistrusted, \d+ skipped, 0 broken", done.stdout)[1])
                # The persistent algorithms have no float64, the dynamic one no dropout; TF32 proves nothing of some cases.
                self.assertGreaterEqual(passed, 4 if settings else len(LINES), done.stdout)

    def test_reserve_space_has_the_size_of_the_fastest(self):
        for slow in ("0", "1", "3"):  # cudnnRNNAlgo_t
            with self.subTest(slow=slow):
                done = self.expect(0, "verify", f"--impl={BEST}", *LINES, environment=DEVICE | {
                    "FAKE_CUDNN_SLOW": slow, "FAKE_CUDNN_LARGE": "1"})
                self.assertIn(f"summary: {len(LINES)} passed, 0 failed,", done.stdout)

    def test_is_right_on_the_smoke_tier(self):
        for part, (plugin, settings) in enumerate(((PLUGIN, {}), (PLUGIN, {"BACKGAUGE_CUDNN_GRAPH": "on"}), (BEST, {})), start=1):
            with self.subTest(plugin=plugin, settings=settings):
                done = run("verify", f"--impl={plugin}", "--tier=smoke", "--ops=CudnnRNNBackprop", f"--shard={part}/3",
                           environment=DEVICE | BITWISE | settings)
                self.assertRegex(done.stdout, r"summary: [1-9]\d{2,} passed, 0 failed, \d+ mistrusted, \d+ skipped, 0 broken")

    def test_concurrent_calls_give_the_bits_that_each_gives_alone(self):
        first, *others = (f"cudnn_rnn_backprop t5b8i12h24 mode=lstm dir=bi layers=2 drop=0.5 dt=f64 data=strat:0x{seed}"
                          for seed in (1, 2, 3))
        for settings in ({}, {"BACKGAUGE_CUDNN_GRAPH": "on"}):
            self.expect(0, "repro", first, *(f"--concurrent={other}" for other in others), f"--impl={PLUGIN}",
                        environment=DEVICE | BITWISE | settings)


class Calls(unittest.TestCase):
    """perf/call/device_call_test on the fake device."""

    def test_repeat_and_can_be_captured(self):
        for graph in ("off", "on"):
            with self.subTest(graph=graph):
                environment = {**os.environ, **DEVICE, **BITWISE, "BACKGAUGE_TEST_DEVICE_IMPL": PLUGIN, "BACKGAUGE_CUDNN_GRAPH": graph}
                done = subprocess.run([os.environ["BACKGAUGE_TEST_DEVICE_CALL"], "--gtest_filter=Small/*.*/5:Small/*.*/6"],
                                      env=environment, capture_output=True, text=True, timeout=120)
                self.assertIn("[  PASSED  ] 6 tests.", done.stdout)


class Settings(CommandTest):
    def version(self, plugin, **settings):
        done = self.expect(0, "list", f"--impl={plugin}", "--format=json", environment=DEVICE | settings)
        return json.loads(done.stdout)["implementations"][0]["version"]

    def test_are_part_of_the_version(self):
        self.assertEqual(self.version(PLUGIN), "9.19.0 (standard, f32 fma, cublas unset)")
        settings = {"BACKGAUGE_CUDNN_ALGO": "persist-dynamic", "BACKGAUGE_CUDNN_GRAPH": "on",
                    "BACKGAUGE_CUDNN_MATH": "tensor-op-conversion", "CUBLAS_WORKSPACE_CONFIG": ":4096:2"}
        self.assertEqual(self.version(PLUGIN, **settings),
                         "9.19.0 (persist-dynamic in a graph, f32 tensor-op-conversion, cublas :4096:2)")
        self.assertEqual(self.version(BEST, BACKGAUGE_CUDNN_ALGO="persist-static"), "9.19.0 (the fastest, f32 fma, cublas unset)")

    def test_that_are_none_are_refused(self):
        for name, value, expected in (
                ("ALGO", "fast", "standard, persist-static, persist-small-h or persist-dynamic"),
                ("MATH", "tf32", "fma, default, tensor-op or tensor-op-conversion"),
                ("GRAPH", "yes", "on or off")):
            with self.subTest(name=name):
                self.expect_complaint(3, f"BACKGAUGE_CUDNN_{name}: expected {expected}, got {value}", "verify", f"--impl={PLUGIN}",
                                      LINES[0], environment=DEVICE | {f"BACKGAUGE_CUDNN_{name}": value})

    def test_without_a_device_both_say_so(self):
        for plugin in (PLUGIN, BEST):
            self.expect_complaint(3, "no CUDA device", "verify", f"--impl={plugin}", LINES[0],
                                  environment=DEVICE | {"FAKE_CUDA_DEVICES": "0"})


class Bench(CommandTest):
    def test_the_best_is_one_peer(self):
        out = self.folder / "out.json"
        done = self.expect(0, "bench", LINES[0], f"--impl={PLUGIN},{BEST}", "--reps=3", "--min-time=0.1", f"--out={out}",
                           environment=DEVICE)
        self.assertIn("cudnn-best: 1 of 1 workloads timed", done.stdout)


if __name__ == "__main__":
    unittest.main()
