# SPDX-License-Identifier: Apache-2.0
"""Functions of Python that take and return PyTorch's tensors, in host memory. Everything is SKIPPED where no interpreter has PyTorch."""

import functools
import os
import pathlib
import subprocess
import unittest

from command import CELL, ENVIRONMENT, CommandTest

KERNEL = pathlib.Path(__file__).resolve().parent.parent / "kernels" / "torch_cell.py"
MODULE = os.environ["BACKGAUGE_TEST_PYTHON"]
HOMES = [os.environ.get("BACKGAUGE_PEERS_HOME"), pathlib.Path.home() / ".cache/backgauge-peers", "/opt/backgauge-peers"]
# With PyTorch's CPU tensors, of which a call of the cell takes 12 and returns 5: a smoke tier of 2,000 calls must not take longer than with NumPy.
CALLS_PER_SECOND = 2000
MEASURED = """
import sys, time
import numpy
from backgauge.worker import module_of
cell = module_of(sys.argv[1]).cell
random = numpy.random.default_rng(1)
B, H = 3, 7
inputs = {name: random.uniform(-1, 1, (B, H)).astype("f4") for name in "cs_prev i cs f o ci co cs_grad h_grad".split()}
inputs |= {name: random.uniform(-1, 1, H).astype("f4") for name in "wci wcf wco".split()}
for value in inputs.values():
    value.flags.writeable = False
outputs = {name: numpy.full(shape, numpy.nan, "f4") for name, shape in
           {"cs_prev_grad": (B, H), "dicfo": (B, 4 * H), "wci_grad": H, "wcf_grad": H, "wco_grad": H}.items()}
best = float("inf")
for _ in range(5):
    start = time.process_time()
    for _ in range(200):
        cell.compute("f32", {**inputs, "use_peephole": True, "out": outputs}, outputs)
    best = min(best, (time.process_time() - start) / 200)
assert numpy.isfinite(outputs["dicfo"]).all()
print(1 / best)
"""


@functools.cache
def interpreter():
    """The first that has PyTorch, which can use the NumPy beside it, or None."""
    program = "import numpy, torch; torch.from_numpy(numpy.zeros(1))"
    for python in (MODULE, *(f"{home}/torch/bin/python" for home in HOMES if home), "/usr/bin/python3"):
        if python and pathlib.Path(python).exists() and not subprocess.run([python, "-c", program], capture_output=True, check=False).returncode:
            return python
    return None


@unittest.skipUnless(MODULE, "backgauge was built without the module _backgauge: ci/install-deps --python")
class Torch(CommandTest):
    def setUp(self):
        super().setUp()
        if interpreter() is None:
            self.skipTest("no interpreter has PyTorch and its NumPy: ci/install-deps --peers")

    def done(self, code, *arguments, wrong=""):
        return self.expect(code, *arguments, f"--impl={KERNEL}", f"--python={interpreter()}", environment={"BACKGAUGE_TEST_KERNEL": wrong}).stdout

    def judged(self, wrong, code=1):
        return self.done(code, "repro", CELL, wrong=wrong)

    def test_a_part_of_a_tier_passes(self):
        self.assertRegex(self.done(0, "verify", "--tier=smoke", "--ops=LSTMBlockCellGrad", "--shard=1/4"),
                         r"summary: [1-9]\d+ passed, 0 failed, 0 mistrusted")

    def test_results_are_returned_or_filled_in(self):
        self.judged("", code=0)
        self.judged("fills its outputs", code=0)

    def test_what_is_wrong_is_found_and_named(self):
        self.assertRegex(self.judged("factor"), r"FAILED[^$]*cs_prev_grad")
        self.assertIn("ValueError: dicfo: expected float32, got float64", self.judged("returns another dtype"))
        self.assertIn("ValueError: dicfo: expected an array in host memory, got one on meta", self.judged("returns a tensor without memory"))
        self.assertRegex(self.judged("writes its input"), "h_grad")
        self.assertIn("past the end of dicfo", self.judged("writes past the end"))

    def test_thousands_of_calls_in_a_second(self):
        modules = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(KERNEL.parents[3] / "reports"), os.environ["BACKGAUGE_TEST_MODULE"]]))
        done = subprocess.run([interpreter(), "-W", "ignore", "-c", MEASURED, str(KERNEL)], capture_output=True, text=True, check=True,
                              env={**ENVIRONMENT, "PYTHONPATH": modules})
        print(f"{float(done.stdout):.0f} calls/s", flush=True)
        self.assertGreater(float(done.stdout), CALLS_PER_SECOND)


if __name__ == "__main__":
    unittest.main()
