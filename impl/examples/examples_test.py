# SPDX-License-Identifier: Apache-2.0
"""The examples that impl/README.md lists: all are there and short; CUDA and Triton are judged here, the others by the tests that
the table names."""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CUDA = ROOT / "impl/examples/lstm_block_cell_grad.cu"
LINES = ["lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37", "lstm_block_cell_grad b2i1h70 peep=0 dt=f16 data=strat:0x17"]
sys.path.insert(0, str(ROOT / "ci/testing/frameworks"))
from frameworks import absence  # noqa: E402


def has_device():
    try:
        driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    except OSError:
        return False
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def source_of(test):
    """The file of a test by its name in CTest, or of a stage of ci/test."""
    group, _, name = test.partition(".")
    return ROOT / {"command": f"ci/testing/command/{name}_test.py", "impl": f"impl/{name}/{name}_test.py"}.get(group, test)


class Index(unittest.TestCase):
    def test_every_example_is_there_short_and_tested(self):
        text = (ROOT / "impl/README.md").read_text()
        table = text[text.index("## Examples"):].split("\n## ")[0]
        rows = re.findall(r"^\| (\S+) \| \[\S+\]\((\S+)\) \| .* \| `(\S+)`[^|]* \|$", table, re.MULTILINE)
        self.assertEqual({"C", "C++", "CUDA", "Rust", "Python", "Triton"}, {language for language, _, _ in rows})
        for _, path, test in rows:
            with self.subTest(path=path):
                example = (ROOT / "impl" / path).resolve()
                self.assertLess(len(example.read_text().splitlines()), 100)
                self.assertIn(example.stem.removeprefix("adapter_"), source_of(test).read_text())  # an adapter goes by its name


class Judged(unittest.TestCase):
    def verify(self, *words):
        done = subprocess.run([os.environ["BACKGAUGE_COMMAND"], "verify", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"summary: [1-9]\d* passed, 0 failed, 0 mistrusted")

    def test_cuda_on_the_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder, "libcell-on-host.so")
            subprocess.run([os.environ["BACKGAUGE_TEST_CXX"], "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                            "-I", ROOT / "reference/contract", "-x", "c++", CUDA, "-o", library], check=True)
            self.verify(f"--impl={library}", "--ops=LSTMBlockCellGrad", "--tier=smoke")

    def test_cuda_on_a_gpu(self):
        if not os.environ["BACKGAUGE_TEST_EXAMPLE_CUDA"]:
            self.skipTest("there is no nvcc")
        if not has_device():
            self.skipTest("there is no CUDA device; nvcc has compiled the example")
        self.verify(f"--impl={os.environ['BACKGAUGE_TEST_EXAMPLE_CUDA']}", "--ops=LSTMBlockCellGrad", "--tier=smoke")

    def test_triton_cell(self):
        if why := absence(os.environ["BACKGAUGE_COMMAND"], "triton"):
            self.skipTest(why)
        self.verify("--impl=triton", *(f"--case={line}" for line in LINES))


if __name__ == "__main__":
    unittest.main()
