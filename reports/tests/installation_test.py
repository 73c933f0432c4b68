# SPDX-License-Identifier: Apache-2.0
"""`python -m backgauge` in installations that lack something: one line, never a traceback."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import backgauge


class Installation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name).resolve()
        self.python = self.prefix / "share/backgauge/python"
        shutil.copytree(pathlib.Path(backgauge.__file__).parent, self.python / "backgauge", ignore=shutil.ignore_patterns("__pycache__"))
        self.put("bin/backgauge")

    def put(self, name):
        (self.prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (self.prefix / name).touch()

    def ask(self, option):
        done = subprocess.run([sys.executable, "-m", "backgauge", option], capture_output=True, text=True, timeout=60, cwd=self.prefix,
                              env={**os.environ, "PYTHONPATH": str(self.python)})
        return done.returncode, done.stdout, done.stderr

    def test_a_folder_that_is_there_is_printed(self):
        self.put("include/backgauge.h")
        self.put("lib/cmake/backgauge/backgaugeConfig.cmake")
        self.assertEqual(self.ask("--include-dir"), (0, f"{self.prefix}/include\n", ""))
        self.assertEqual(self.ask("--cmake-dir"), (0, f"{self.prefix}/lib/cmake/backgauge\n", ""))

    def test_a_folder_that_is_missing_is_named(self):
        for option, file in (("--include-dir", "backgauge.h"), ("--cmake-dir", "backgaugeConfig.cmake")):
            with self.subTest(option):
                self.assertEqual(self.ask(option), (3, "", f"backgauge: {option}: the installation in {self.prefix} has no {file}\n"))

    def test_without_the_program_there_is_no_installation(self):
        (self.prefix / "bin/backgauge").unlink()
        self.assertEqual(self.ask("--include-dir"),
                         (3, "", f"backgauge: {self.python}/backgauge belongs to no installation: there is no bin/backgauge\n"))


if __name__ == "__main__":
    unittest.main()
