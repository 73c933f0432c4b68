# SPDX-License-Identifier: Apache-2.0
"""Implementations in device memory, without a device: a fake libcudart (properties/device/testing) replaces it."""

import json
import os
import pathlib
import re
import resource
import subprocess
import unittest

from command import CELL, PLUGINS, CommandTest, run

FAKE = {"BACKGAUGE_CUDART": os.environ["BACKGAUGE_TEST_CUDART"]}
LIMITED = FAKE | {"BACKGAUGE_CUBLASLT": os.environ["BACKGAUGE_TEST_CUBLASLT"], "FAKE_CUDA_GFLOPS": "400"}
RIGHT = PLUGINS / "on_fake_device.so"
WRITES_BEFORE = PLUGINS / "writes_before_on_fake_device.so"
IMPLEMENTATIONS = pathlib.Path(__file__).resolve().parents[3] / "impl" / "implementations.inc"
BLOCK = "block_lstm_grad_v2 t3b2i4h5 peep=1 seq=2 dt=f16 data=strat:0x1"
CUDNN = "cudnn_rnn_backprop t3b2i4h5 mode=lstm layers=2 drop=0.5 dt=f32 data=strat:0x1"


class Verify(CommandTest):
    def test_the_smoke_tier_passes_in_device_memory(self):
        for isolate, ops in (("on", []), ("off", ["--ops=block_lstm_grad_v2"])):
            with self.subTest(isolate=isolate):
                done = self.expect(0, "verify", "--tier=smoke", f"--impl={RIGHT}", f"--isolate={isolate}", *ops, environment=FAKE)
                self.assertRegex(done.stdout, r"summary: [1-9]\d{2,} passed, 0 failed, \d+ mistrusted, \d+ skipped, 0 broken")

    def test_a_write_before_the_memory_of_an_output_is_caught(self):
        for line in (CELL, BLOCK, CUDNN):
            with self.subTest(line=line):
                done = self.expect(1, "verify", f"--case={line}", f"--impl={WRITES_BEFORE}", environment=FAKE)
                self.assertIn("wrote before the beginning of", done.stdout)

    def test_the_memory_limit_leaves_devices_alone(self):
        self.expect(0, "verify", f"--case={CELL}", f"--impl={RIGHT}", "--memory-limit=1M", environment=FAKE)

    def test_inputs_come_back_from_the_device_where_they_are_mapped_once(self):
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))}
        self.expect(0, "verify", f"--case={CELL}", f"--impl={RIGHT}", "--isolate=off", environment=FAKE, **limit)

    def test_without_a_device_cases_are_skipped_with_the_reason(self):
        for environment, reason in (
            ({"BACKGAUGE_CUDART": "/no/such/libcudart.so"}, "no CUDA runtime library"),
            (FAKE | {"FAKE_CUDA_DEVICES": "0"}, "no CUDA device: no CUDA-capable device is detected"),
            (FAKE | {"FAKE_CUDA_DRIVER": "0"}, "no NVIDIA driver: libcuda.so.1 is not on this machine"),
        ):
            with self.subTest(reason=reason):
                done = self.expect(5, "verify", f"--case={CELL}", f"--impl={RIGHT}", environment=environment)
                self.assertIn(f"skipped 1: {reason}", done.stdout)
                self.assertIn("nothing was judged", done.stdout)
                self.assertIn("summary: 0 passed", done.stdout)

    def test_without_a_device_a_tier_is_skipped_too(self):
        done = self.expect(5, "verify", "--tier=smoke", "--ops=LSTMBlockCellGrad", f"--impl={RIGHT}",
                           environment=FAKE | {"FAKE_CUDA_DEVICES": "0"})
        self.assertRegex(done.stdout, r"(?m)^summary: 0 passed, 0 failed, 0 mistrusted, \d+ skipped, 0 broken")
        self.assertNotIn("check: ", done.stdout)

    def test_what_the_device_reports_is_the_implementations_fault(self):
        # The first synchronization is the harness's own, after it has put everything in place.
        environment = FAKE | {"FAKE_CUDA_FAULT": "2"}
        done = self.expect(1, "verify", f"--case={CELL}", f"--impl={RIGHT}", environment=environment)
        self.assertIn("after run the device reported: cudaStreamSynchronize: an illegal memory access", done.stdout)

    def test_the_next_case_after_a_fault_has_a_process_of_its_own(self):
        # A run synchronizes three times, a case has three of them, and its end synchronizes once for each: the first of
        # the second case's own is the 14th.
        lines = [f"--case={CELL.replace('h7', h)}" for h in ("h7", "h9", "h3")]
        done = self.expect(1, "verify", *lines, f"--impl={RIGHT}", "--jobs=1", environment=FAKE | {"FAKE_CUDA_FAULT": "14"})
        self.assertIn("summary: 2 passed, 1 failed", done.stdout)


class Calls(unittest.TestCase):
    """perf/call/device_call_test, which needs a device, on the fake one."""

    def passed_and_failed(self, plugin, tests):
        environment = {**os.environ, **FAKE, "BACKGAUGE_TEST_DEVICE_IMPL": str(PLUGINS / f"{plugin}.so")}
        done = subprocess.run([os.environ["BACKGAUGE_TEST_DEVICE_CALL"], f"--gtest_filter={tests}"], env=environment,
                              capture_output=True, text=True, timeout=120)
        return [sorted(set(re.findall(rf"^\[ +{word} +\] \w+/DeviceCallTest\.(\w+)/", done.stdout, re.MULTILINE)))
                for word in ("OK", "FAILED")]

    def test_repeats_and_graphs_of_what_is_right(self):
        self.assertEqual(self.passed_and_failed("on_fake_device", "Small/*.*/0:Small/*.*/3:Small/*.*/5"),
                         [["IsTheSameInAGraph", "RepeatsBitForBit", "RepeatsWhileAnotherStreamIsBusy"], []])

    def test_bits_that_differ_are_seen(self):
        self.assertEqual(self.passed_and_failed("differs_on_fake_device", "Small/*.Repeats*/3"),
                         [[], ["RepeatsBitForBit", "RepeatsWhileAnotherStreamIsBusy"]])

    def test_work_that_is_not_in_the_graph_is_missed(self):
        self.assertEqual(self.passed_and_failed("computes_at_once_on_fake_device", "Small/*.*/3"),
                         [["RepeatsBitForBit", "RepeatsWhileAnotherStreamIsBusy"], ["IsTheSameInAGraph"]])

    def test_what_was_asked_for_is_not_skipped(self):
        def failed_and_skipped(**environment):
            done = subprocess.run([os.environ["BACKGAUGE_TEST_DEVICE_CALL"], "--gtest_filter=Small/*.Repeats*/0"],
                                  env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)
            return [len(re.findall(rf"^\[ +{word} +\] Small/.* ms\)$", done.stdout, re.MULTILINE))
                    for word in ("FAILED", "SKIPPED")]

        self.assertEqual(failed_and_skipped(BACKGAUGE_CUDART="/no/such/libcudart.so"), [2, 0])
        # A device is there: `cuda` opens on it, or is not in this build.
        listed = json.loads(run("list", "--format=json").stdout)
        built = "cuda" in {entry["name"] for entry in listed["implementations"] + listed["unavailable"]}
        self.assertEqual(failed_and_skipped(**FAKE), [2, 0] if built else [0, 2])


class BuiltIn(CommandTest):
    """What needs a device, on machines that may have one or not."""

    def test_a_machine_without_one_reports_what_is_missing(self):
        listed = json.loads(self.expect(0, "list", "--format=json").stdout)
        here = [implementation["name"] for implementation in listed["implementations"]]
        absent = {entry["name"]: entry["reason"] for entry in listed["unavailable"]}
        names = re.findall(r'^BACKGAUGE_PLUGIN\("(.+)", kDevice', IMPLEMENTATIONS.read_text(), re.MULTILINE)
        self.assertGreaterEqual(len(names), 3)
        for name in names:
            with self.subTest(name=name):
                if name in here:
                    self.skipTest("this machine has a device")
                done = self.expect_complaint(3, name, "verify", f"--case={CELL}", f"--impl={name}")
                self.assertRegex(done.stderr, "no NVIDIA driver|NVIDIA driver is too old|no CUDA device|not in this build")
                if name in absent:
                    self.assertIn(absent[name], done.stderr)


class Bench(CommandTest):
    def test_device_memory_is_timed_hot_and_cold(self):
        for cache in ("hot", "cold"):
            with self.subTest(cache=cache):
                out = self.folder / f"{cache}.json"
                lines = [f"--case={line}" for line in (CELL, BLOCK, CUDNN)]
                self.expect(0, "bench", *lines, f"--impl={RIGHT}", "--reps=3", "--min-time=0.1", f"--cache={cache}",
                            f"--out={out}", environment=FAKE)
                samples = out.with_suffix(".samples.jsonl").read_text().splitlines()
                seconds = [json.loads(line)["seconds"] for line in samples if '"seconds"' in line]
                self.assertGreaterEqual(len(seconds), 9)
                self.assertTrue(all(value > 0 for value in seconds))

    def bench(self, name, implementation=RIGHT, environment=None):
        """A short run on a fake device of this name: stdout, the document, the file."""
        out = self.folder / f"{name}.json"
        done = self.expect(0, "bench", f"--case={BLOCK}", f"--case={CELL}", f"--impl={implementation}", "--reps=3", "--min-time=0.1",
                           f"--out={out}", environment=(LIMITED if environment is None else environment) | {"FAKE_CUDA_NAME": name})
        return done.stdout, json.loads(out.read_text()), out

    def test_limits_are_those_of_the_device(self):
        stdout, document, _ = self.bench("Fake H100")
        context = document["context"]
        self.assertRegex(stdout, r"(?m)^device  Fake H100, 4 multiprocessors, at most 1500 MHz, 1 GiB,.* CUDA 13.0 \(driver: 13.1\), cuBLASLt 13.1.2$")
        self.assertRegex(stdout, r"products TFLOP/s float16 [\d.]+, bfloat16 [\d.]+, TF32 [\d.]+, float32 [\d.]+, float64 [\d.]+; copy GB/s L2 ")
        self.assertNotIn("multiply-add", stdout)
        self.assertEqual((context["device_name"], context["device_multiprocessors"], context["device_clock_mhz"]), ("Fake H100", "4", "1500"))
        for key in ("device_gflops_f16", "device_gflops_f32", "device_copy_gbps_memory", "device_launch_us", "device_l2_bytes", "device_cublaslt"):
            self.assertIn(key, context)
        for key in ("fma_gflops_f32", "copy_gbps_memory", "read_gbps_l1"):
            self.assertNotIn(key, context)
        self.assertTrue(all(entry["on_device"] == 1 and entry["share_of_limit"] > 0
                            for entry in document["benchmarks"] if entry["run_type"] == "iteration"))

    def test_what_cannot_be_measured_is_a_dash_with_the_reason(self):
        stdout, document, _ = self.bench("Fake H100", environment=FAKE)
        self.assertRegex(stdout, r"products TFLOP/s unknown: no cuBLASLt: BACKGAUGE_CUDART names a runtime")
        self.assertRegex(stdout, r"(?m)^  on_fake_device .* +- +\d\.\d+ +1\.000$")
        self.assertNotIn("device_gflops_f16", document["context"])

    def test_beside_an_implementation_on_the_cpu_each_has_its_own_limits(self):
        stdout, document, _ = self.bench("Fake H100", f"cpu,{RIGHT}")
        self.assertIn("multiply-add", stdout)
        self.assertIn("products TFLOP/s", stdout)
        self.assertEqual({"on_device" in entry for entry in document["benchmarks"] if entry["name"].startswith("cpu/")}, {False})

    def test_another_device_is_another_machine(self):
        ids = {name: self.bench(name)[1]["context"]["machine_id"] for name in ("Fake H100", "Fake A100")}
        self.assertNotEqual(*ids.values())
        self.assertEqual(self.bench("Fake H100")[1]["context"]["machine_id"], ids["Fake H100"])

    def test_unjudged_is_timed_with_a_device_and_skipped_without(self):
        arguments = ["bench", "--unjudged", "--suite=gpu", "--benchmark_filter=cell_grad,b160", f"--impl={RIGHT}", "--reps=3",
                     "--min-time=0.1", "--launches=1"]
        done = self.expect(0, *arguments, environment=FAKE)
        self.assertIn("on_fake_device: 1 of 1 workloads timed, not judged\n", done.stdout)
        done = self.expect(0, *arguments, environment=FAKE | {"FAKE_CUDA_DEVICES": "0"})
        self.assertRegex(done.stdout, "on_fake_device +SKIPPED: no CUDA device: no CUDA-capable device is detected")


if __name__ == "__main__":
    unittest.main()
