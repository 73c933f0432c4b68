# SPDX-License-Identifier: Apache-2.0
"""The implementation for NVIDIA GPUs, its kernels run by the processor; and what it says where it cannot run."""

import json
import os
import pathlib
import unittest

from command import CommandTest, run

CASES = pathlib.Path(os.environ["BACKGAUGE_TEST_CUDA_CASES"])


def case_lines():
    return [line for line in CASES.read_text().splitlines() if line and not line.startswith("#")]


class OnHost(CommandTest):
    def test_is_right_in_vectors_and_over_many_graphs(self):
        lines = case_lines()
        self.assertGreater(len(lines), 15)
        done = self.expect(0, "verify", "--impl=cuda-on-host", "--strict", *(f"--case={line}" for line in lines))
        self.assertIn(f"summary: {len(lines)} passed, 0 failed, 0 mistrusted, 0 skipped, 0 broken", done.stdout)

    def test_graphs_change_nothing(self):
        lines = [line for line in case_lines() if line.startswith("block")]
        self.expect(0, "verify", "--impl=cuda-on-host", *(f"--case={line}" for line in lines),
                    environment={"BACKGAUGE_CUDA_GRAPH": "off"})

    def test_is_right_on_the_smoke_tier(self):
        done = self.expect(0, "verify", "--impl=cuda-on-host", "--tier=smoke")
        self.assertIn(" 0 failed, 0 mistrusted", done.stdout)


    def test_rounds_float_operands_only_when_asked(self):
        lines = [f"--case={line}" for line in case_lines() if "dt=f32" in line]
        done = self.expect(0, "verify", "--impl=cuda-on-host", *lines, environment={"BACKGAUGE_CUDA_MATH": "tf32"})
        self.assertIn("float products in TF32", done.stdout)
        told = self.expect(0, "list", "--impl=cuda-on-host", "--format=json", environment={"BACKGAUGE_CUDA_MATH": "tf32"})
        contracts = {claim["op"]: claim["contract"] for claim in json.loads(told.stdout)["implementations"][0]["claims"]}
        self.assertEqual(contracts.pop("lstm_block_cell_grad"), "fp32_strict")
        self.assertEqual(set(contracts.values()), {"fp32_tf32"})
        self.expect_complaint(3, "expected fp32 or tf32", "verify", "--impl=cuda-on-host",
                              environment={"BACKGAUGE_CUDA_MATH": "fast"})


class OnDevice(CommandTest):
    def test_runs_or_says_what_is_missing(self):
        done = run("verify", "--impl=cuda", "--tier=smoke")
        if done.returncode == 0:
            return
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "^backgauge: .*(not in this build|no NVIDIA driver|too old an NVIDIA driver|no CUDA device)")
        self.skipTest(done.stderr.strip())


if __name__ == "__main__":
    unittest.main()
