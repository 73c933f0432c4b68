# SPDX-License-Identifier: Apache-2.0
"""The tutorial and the FAQ: their code does what they say, in an installation as pip makes it."""
import ctypes
import os
import pathlib
import shutil
import tempfile
import unittest

import blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]
NO_MODULE = "backgauge was built without the module _backgauge: ci/install-deps --python"


def sections(document):
    return blocks.blocks_of((ROOT / "reports/site" / document).read_text(encoding="utf-8"))


def nvcc_absence():
    return "" if shutil.which("nvcc", path=search_path()) else "there is no nvcc"


def gpu_absence():
    """Also without nvcc there is nothing to run."""
    try:
        driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
        found = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    except OSError:
        found = False
    return nvcc_absence() if found else "there is no CUDA device"


def search_path():
    return f"{os.environ['PATH']}:/usr/local/cuda/bin"


def install(prefix):
    """What pip would: the command, the package, the header. Returns the environment in which they are found."""
    package = prefix / "share/backgauge/python"
    shutil.copytree(ROOT / "reports/backgauge", package / "backgauge", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("bin", "include"):
        (prefix / folder).mkdir()
    (prefix / "bin/backgauge").symlink_to(os.environ["BACKGAUGE_COMMAND"])
    shutil.copy(ROOT / "reference/contract/backgauge.h", prefix / "include")
    native = pathlib.Path(os.environ["BACKGAUGE_COMMAND"]).parent / "python"
    # An installed package names its plug-in to pytest itself.
    folders = [prefix / "bin", *([pathlib.Path(PYTHON).parent] if PYTHON else []), search_path()]
    own = {"PATH": ":".join(map(str, folders)),
           "PYTHONPATH": f"{package}:{native}", "PYTEST_PLUGINS": "backgauge.pytest_plugin", "PYTHONDONTWRITEBYTECODE": "1"}
    return {name: value for name, value in os.environ.items() if not name.startswith(("BACKGAUGE_", "PYTHON"))} | own


class DocumentTest(unittest.TestCase):
    def run_sections(self, document, *heads):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        work = folder / "work"
        work.mkdir()
        runner = blocks.Runner(work, install(folder / "prefix"), {"nvcc": nvcc_absence(), "gpu": gpu_absence()})
        for head in heads:
            runner.run(sections(document)[head])
        if runner.skipped:
            self.skipTest("; ".join(dict.fromkeys(runner.skipped)))

    def assert_run(self, document, heads):
        """Every section of `document` that has code is in a test."""
        self.assertEqual([head for head, found in sections(document).items() if found], heads)


class TutorialTest(DocumentTest):
    cuda = ["The kernel", "On the CPU", "On the GPU"]

    def test_no_section_is_left_out(self):
        self.assert_run("tutorial.md", ["Install", "Python", "C"])
        self.assert_run("tutorial_cuda.md", self.cuda)

    def test_install(self):
        self.run_sections("tutorial.md", "Install")

    @unittest.skipUnless(PYTHON, NO_MODULE)
    def test_python(self):
        self.run_sections("tutorial.md", "Python")

    def test_c(self):
        self.run_sections("tutorial.md", "C")

    def test_cuda(self):
        self.run_sections("tutorial_cuda.md", *self.cuda)


class FaqTest(DocumentTest):
    half = "It fails with accuracy_class A. What does that mean?"

    def test_no_section_is_left_out(self):
        self.assert_run("faq.md", [self.half])

    @unittest.skipUnless(PYTHON, NO_MODULE)
    def test_accuracy_class(self):
        self.run_sections("faq.md", self.half)


class RunnerTest(unittest.TestCase):
    """The runner notices what is wrong with a document."""

    def run_text(self, text):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        blocks.Runner(folder, dict(os.environ), {"moon": "there is no moon"}).run(blocks.blocks_of(text)[""])

    def test_accepts_what_is_right(self):
        self.run_text("```text file=a\nx\ny\n```\n```diff patch=a\n-x\n+z\n```\n```sh run exit=3\ncat a; echo 0.1 s; echo 5 m; exit 3\n```\n"
                      "```text output\nz\n0.7 s\n```\n```text sample\n7 m\n```\n"
                      "```sh run\necho cpu 2 us spread; echo cpu 1 us disturbed\n```\n```text sample\ncpu 3 us 1.5\ncpu 3 us 1.5\n```\n```sh needs=moon run\nfalse\n```\n```sh by-hand\nfalse\n```\n")

    def test_refuses_what_is_wrong(self):
        for text, complaint in [
            ("```sh run\nfalse\n```\n", "line 1: exit code 1, expected 0"),
            ("```sh run exit=1\ntrue\n```\n", "line 1: exit code 0, expected 1"),
            ("\n```sh\ntrue\n```\n", "line 2: expected words that say what is done with the block, got none"),
            ("```sh run\necho 1.5\n```\n```text output\n1.6\n```\n", "line 4: not printed, or not in this order: 1.6"),
            ("```sh run\necho a; echo b\n```\n```text output\nb\na\n```\n", "line 4: not printed, or not in this order: a"),
            ("```sh run\necho a 1\n```\n```text sample\nb 1\n```\n", "line 4: not printed, or not in this order: b 1"),
            ("```sh run\necho cpu 2 us unjudged\n```\n```text sample\ncpu 2 us 1.5\n```\n", "line 4: not printed, or not in this order: cpu"),
            ("```c file=a\nx\n```\n```diff patch=a\n-y\n+z\n```\n", "line 4: a has these lines 0 times"),
        ]:
            with self.subTest(text=text), self.assertRaises(blocks.Wrong) as caught:
                self.run_text(text)
            self.assertTrue(str(caught.exception).startswith(complaint), caught.exception)


if __name__ == "__main__":
    unittest.main()
