# SPDX-License-Identifier: Apache-2.0
"""`cmake --install` after ci/verify: what ci/verify builds is all that the install rules name."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["BACKGAUGE_TEST_BUILD"])
VERIFY = pathlib.Path(__file__).parents[2] / "verify"


def ninja(*arguments):
    return subprocess.run(["ninja", "-C", BUILD, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()


def named_by_install_rules():
    """Files of the build folder, relative to it, without those that may be missing."""
    rules = "\n".join(file.read_text() for file in BUILD.rglob("cmake_install.cmake"))
    files = {file for names in re.findall(r'(?<!OPTIONAL )FILES((?: "[^"]+")+)', rules) for file in re.findall(r'"([^"]+)"', names)}
    return {str(pathlib.Path(file).relative_to(BUILD)) for file in files if pathlib.Path(file).is_relative_to(BUILD)}


@unittest.skipUnless((BUILD / "build.ninja").exists() and shutil.which("ninja"), "this build is not one of ninja")
class Install(unittest.TestCase):
    def test_what_verify_builds_is_all_that_is_installed(self):
        target, = re.findall(r"^build release (\S+)$", VERIFY.read_text(), re.MULTILINE)
        wanted = named_by_install_rules() & {line.split(":")[0] for line in ninja("-t", "targets", "all")}
        self.assertIn("ci/backgauge", wanted)
        commands = "\n".join(ninja("-t", "commands", target))
        missing = {file for file in wanted if not re.search(rf"[ /]{re.escape(file)}(\s|$)", commands)}
        self.assertEqual(missing, set(), f"installed, but not built by {target}")


if __name__ == "__main__":
    unittest.main()
