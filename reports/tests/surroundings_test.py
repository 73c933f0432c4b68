# SPDX-License-Identifier: Apache-2.0
"""What two runs differ in besides their times: what is seen, what `compare` says of it, and that nothing is SLOWER then."""

import json
import unittest

from backgauge import errors
from backgauge.surroundings import BUILD, HARDWARE, HOST, LIMIT, differences
from compare_test import GRID, CallTest
from synthetic import CONTEXT, DEVICE

OTHERS = {"gpus": (HARDWARE, "NVIDIA H100", "NVIDIA A100"), "device_name": (HARDWARE, "GPU one", "GPU two"), "cores": (HARDWARE, "2", "4"),
          "governor": (HOST, "performance", "powersave"), "kernel": (HOST, "Linux 6.1.0", "Linux 6.12.0"), "libc": (HOST, "glibc 2.36", "glibc 2.41"),
          "gpu_driver": (HOST, "580.95.05", "570.1"), "device_driver": (HOST, "580.1", "570.1"), "device_cuda_runtime": (HOST, "13.0", "12.8"),
          "compiler": (BUILD, "gcc 12.2.0", "clang 16.0.6"), "copy_gbps_memory": (LIMIT, 22.0, 15.0), "fma_gflops_f32": (LIMIT, 112.0, 60.0)}


class DifferencesTest(unittest.TestCase):
    def test_each_is_seen(self):
        for key, (kind, ours, theirs) in OTHERS.items():
            found, = differences({**CONTEXT, key: ours}, {**CONTEXT, key: theirs})
            self.assertEqual((found.kind, found.before, found.after), (kind, str(ours), str(theirs)), key)

    def test_what_one_run_does_not_say_is_no_difference(self):
        for key in OTHERS:
            for unknown in (None, "", "unknown", "nan"):
                self.assertEqual(differences({**CONTEXT, key: "unknown"}, {**CONTEXT, key: unknown}), [], (key, unknown))
        self.assertEqual(differences({}, {**CONTEXT, **DEVICE}), [])

    def test_limits_of_the_same_machine(self):
        self.assertEqual(differences(CONTEXT, {**CONTEXT, "copy_gbps_memory": 19.0, "fma_gflops_f32": 125.0}), [])
        for wrong in ("x", -1, 0, float("inf"), [], "9" * 5000):
            self.assertEqual(differences(CONTEXT, {**CONTEXT, "copy_gbps_memory": wrong}), [], wrong)

    def test_a_digest_says_nothing_beside_what_it_is_of(self):
        found = differences(CONTEXT, {**CONTEXT, "machine_id": "other", "cpu_model": "Another CPU"})
        self.assertEqual([each.what for each in found], ["CPU"])
        self.assertEqual([each.what for each in differences(CONTEXT, {**CONTEXT, "machine_id": "other"})], ["machine"])


class CompareTest(CallTest):
    def runs(self, base, head):
        slower = {("cpu", line): 1.3 for line in GRID[:3]}
        return self.write("base.json", context=base), self.write("head.json", seed=9, context=head, slower=slower)

    def test_the_same_machine_is_said(self):
        code, text = self.call(*self.runs({}, {}), "--gate")
        self.assertEqual(code, errors.SLOWER)
        self.assertIn("\nSAME MACHINE\n", text)

    def test_nothing_is_slower_with_another_compiler_host_or_limit(self):
        for key, (kind, ours, theirs) in OTHERS.items():
            if kind == HARDWARE:
                continue
            with self.subTest(key=key):
                code, text = self.call(*self.runs({key: ours}, {key: theirs}), "--gate")
                self.assertEqual(code, errors.INCONCLUSIVE, text)
                self.assertIn("NOT THE SAME MACHINE: ", text)
                self.assertRegex(text, rf"UNCLEAR .*not the same machine or build: [^:]*: {ours} -> {theirs}")
                found = json.loads(self.call(*self.runs({key: ours}, {key: theirs}), "--format=json")[1])
                self.assertFalse(found["same_machine"])
                self.assertEqual(found["differences"][0]["kind"], kind)

    def test_other_hardware_is_refused_and_gpus_are_never_calibrated(self):
        for key, (kind, ours, theirs) in OTHERS.items():
            if kind != HARDWARE:
                continue
            with self.subTest(key=key):
                base, head = self.runs({key: ours}, {key: theirs})
                code, text = self.call(base, head)
                self.assertEqual(code, errors.USAGE)
                self.assertIn("different machines", text)
                if "cores" not in key:
                    self.assertEqual(self.call(base, head, "--cross-machine")[0], errors.USAGE)

    def test_another_compiler_on_another_machine_decides_nothing_either(self):
        base, head = self.runs({}, {"machine_id": "other", "compiler": "clang 16"})
        self.assertNotIn("SLOWER ", self.call(base, head, "--cross-machine")[1].split("summary")[0])

    def test_what_a_confined_kernel_did_is_said(self):
        context = {"untrusted/cpu": "untrusted: confined; loads libother.so; was refused socket"}
        code, text = self.call(*self.runs({}, context))
        self.assertIn("head: untrusted: confined; loads libother.so; was refused socket", text)


if __name__ == "__main__":
    unittest.main()
