# SPDX-License-Identifier: Apache-2.0
"""Which tests skipped_tests.py calls skipped, and why, in files as ctest and GoogleTest write them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent


def listed(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "results.xml")
        file.write_text(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
        done = subprocess.run([sys.executable, HERE / "skipped_tests.py", file], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.splitlines()


class SkippedTests(unittest.TestCase):
    def test_what_ran_is_not_listed(self):
        self.assertEqual(listed("""<testcase name="a.b" classname="a.b" status="run"><system-out>... ok</system-out></testcase>
            <testcase name="c" classname="A" status="run" result="completed"/>"""), (0, []))

    def test_a_program_of_googletest_says_why_in_a_message(self):
        self.assertEqual(listed("""<testcase name="Tiles/avx512" classname="EveryPath" status="run" result="skipped">
            <skipped message="paths.h:31&#x0A;avx512: this build leaves it out"><![CDATA[paths.h:31]]></skipped></testcase>"""),
            (0, ["SKIPPED EveryPath.Tiles/avx512: avx512: this build leaves it out"]))

    def test_ctest_keeps_the_output(self):
        self.assertEqual(listed("""<testcase name="A.B  # GetParam() = 3" classname="A.B  # GetParam() = 3" status="notrun">
            <skipped message=""/><system-out>a.cc:3: Skipped
no device

[  SKIPPED ] A.B</system-out></testcase>"""), (0, ["SKIPPED A.B: no device"]))

    def test_a_command_says_it_last(self):
        self.assertEqual(listed("""<testcase name="x" classname="x" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
            <system-out>SKIPPED: no module</system-out></testcase>"""), (0, ["SKIPPED x: no module"]))

    def test_a_part_of_a_test_is_listed(self):
        self.assertEqual(listed("""<testcase name="x" classname="x" status="run"><system-out>test_a (x.Y) ... skipped 'no nvcc'
test_b (x.Y) ... ok</system-out></testcase>"""), (0, ["SKIPPED x: no nvcc"]))

    def test_no_reason_is_an_error(self):
        self.assertEqual(listed("""<testcase name="x" classname="x" status="notrun"><skipped message=""/></testcase>"""),
                         (1, ["SKIPPED x: no reason given"]))


if __name__ == "__main__":
    unittest.main()
