# SPDX-License-Identifier: Apache-2.0
"""The implementation for NVIDIA GPUs, its kernels run by the processor; and what it says where it cannot run."""

import json
import os
import pathlib
import re
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

    def expect_right(self, math, cases, **more):
        done = self.expect(0, "verify", "--impl=cuda-on-host", *cases, environment={"BACKGAUGE_CUDA_MATH": math, **more})
        self.assertIn(" passed, 0 failed,", done.stdout)
        self.assertIn(" 0 broken", done.stdout)
        return done.stdout

    def test_is_right_in_tf32_and_in_half(self):
        self.expect_right("tf32,fp16", [f"--case={line}" for line in case_lines()])
        text = self.expect_right("tf32,fp16", ["--tier=smoke", "--ops=block_lstm_grad_v2,cudnn_rnn_backprop"])  # the cell has no products
        self.assertIn("float products in TF32, half products in half", text)

    def test_is_right_in_three_products_of_tf32(self):  # cuda_faults.py runs the smoke tier so
        text = self.expect_right("3xtf32", [f"--case={line}" for line in case_lines()])
        self.assertIn("float products as three of TF32", text)

    def test_is_right_in_clusters_of_every_size(self):  # cuda_faults.py runs so what has few rows in the smoke tier
        lines = [line for line in case_lines() if not line.startswith("lstm_block_cell_grad")]  # the cell has no steps
        # The threads of a cluster take turns on a processor: with many blocks, hundreds of rows take a minute.
        few_rows = [line for line in lines if int(re.search(r"b(\d+)i", line)[1]) < 100]
        self.assertGreater(len(lines), len(few_rows))
        for blocks, math, chosen in ((1, "", lines), (2, "3xtf32,fp16", lines), (4, "", few_rows), (8, "3xtf32,fp16", few_rows),
                                     (16, "", few_rows)):
            self.expect_right(math, [f"--case={line}" for line in chosen], BACKGAUGE_CUDA_STEPS=f"cluster-{blocks}")

    def test_says_how_steps_are_computed(self):
        for steps, said in (("cluster-1", ", steps in clusters of 1 block)"), ("cluster-16", ", steps in clusters of 16 blocks)"),
                            ("each", "one by one)")):
            listed = self.expect(0, "list", "--impl=cuda-on-host", "--format=json", environment={"BACKGAUGE_CUDA_STEPS": steps})
            self.assertTrue(json.loads(listed.stdout)["implementations"][0]["version"].endswith(said), listed.stdout)

    def test_claims_what_is_asked_for(self):
        def of(claimed, dtype):
            return claimed[dtype] if isinstance(claimed, dict) else claimed

        for math, of_float, of_half in (("", "fp32_strict", ("A", "fp32_strict")),
                                        ("tf32", "fp32_tf32", ("A", "fp32_tf32")),
                                        ("3xtf32", "fp32_3xtf32", ("A", "fp32_3xtf32")),
                                        ("fp16", "fp32_strict", ("A'", "fp16_acc32")),
                                        ("fp16,tf32", "fp32_tf32", ("A'", "fp16_acc32")),
                                        ("3xtf32,fp16", "fp32_3xtf32", ("A'", "fp16_acc32"))):
            listed = self.expect(0, "list", "--impl=cuda-on-host", "--format=json", environment={"BACKGAUGE_CUDA_MATH": math})
            for claim in json.loads(listed.stdout)["implementations"][0]["claims"]:
                said = (of(claim["numerical_contract"], "f32"),
                        (of(claim["accuracy_class"], "f16"), of(claim["numerical_contract"], "f16")))
                cell = claim["op"] == "lstm_block_cell_grad"
                self.assertEqual(said, ("fp32_strict", ("A", "fp32_strict")) if cell else (of_float, of_half), math)

    def test_refuses_what_it_does_not_know_and_what_contradicts_itself(self):
        for math in ("fast", "fp32", "tf32,3xtf32", "fp16,fp16", "tf32,", ",", "TF32", "tf32 fp16"):
            self.expect_complaint(3, "expected tf32 or 3xtf32, fp16, or both", "verify", "--impl=cuda-on-host",
                                  environment={"BACKGAUGE_CUDA_MATH": math})
        for steps in ("cluster", "cluster-3", "cluster-32", "cluster-8 ", "all"):
            self.expect_complaint(3, f"BACKGAUGE_CUDA_STEPS={steps}: expected each, cluster-1, cluster-2, cluster-4, cluster-8 or cluster-16",
                                  "verify", "--impl=cuda-on-host", environment={"BACKGAUGE_CUDA_STEPS": steps})


class OnDevice(CommandTest):
    def test_runs_or_says_what_is_missing(self):
        done = run("verify", "--impl=cuda", "--tier=smoke")
        if done.returncode == 0:
            return
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "^backgauge: .*(not in this build|no NVIDIA driver|NVIDIA driver is too old|no CUDA device)")
        self.skipTest(done.stderr.strip())


if __name__ == "__main__":
    unittest.main()
