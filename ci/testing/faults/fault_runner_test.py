# SPDX-License-Identifier: Apache-2.0
"""The runner of faults on a product of three files: what its check notices, what it does not, and rows that no longer fit."""
import contextlib
import io
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import fault_runner
from fault_runner import Build, Product

SOURCES = {"answer.h": "inline int base() { return 40; }\n",
           "answer.cc": '#include "lib/answer.h"\nint answer() { return base() + 2; }\nint spare() { return 1; }\n',
           "check.cc": "int answer();\nint main() { return answer() == 42 ? 0 : 1; }\n"}
NINJA = """rule cc
  command = c++ -I{source} -o $out -c $in
rule ar
  command = ar rcs $out $in
rule link
  command = : && c++ {objects} -o $out {libraries} && :
build obj/answer.cc.o: cc {source}/lib/answer.cc
build obj/check.cc.o: cc {source}/lib/check.cc
build libanswer.a: ar obj/answer.cc.o
build check: link obj/check.cc.o libanswer.a
"""
# How answer.cc gets into the product: from a library, which then leaves its own object out, or by name, which the runner leaves out.
FROM_A_LIBRARY, BY_NAME = ("obj/check.cc.o", "libanswer.a"), ("obj/check.cc.o obj/answer.cc.o", "-lm")
PRODUCT = Product("check", "check", "lib", "obj/", "-O0")
IN_HEADER = ("F1", "a wrong base", "lib/answer.h", ("40", "41"))
TWICE = ("F2", "two changes", "lib/answer.cc", ("+ 2", "+ 3"), ("return 1", "return 7"))
UNNOTICED = ("F3", "nobody asks", "lib/answer.cc", ("return 1", "return 2"))
BROKEN = ("F4", "no C++", "lib/answer.cc", ("int spare", "int int spare"))
STALE = ("F5", "not there", "lib/answer.cc", ("+ 5", "+ 6"))


def passes(build, program, fault):
    return subprocess.run([program]).returncode == 0


class FaultRunnerTest(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.source, self.build = folder / "source", folder / "build"
        (self.source / "lib").mkdir(parents=True)
        self.build.mkdir()
        for name, text in SOURCES.items():
            (self.source / "lib" / name).write_text(text)

    def configure(self, objects, libraries):
        (self.build / "build.ninja").write_text(NINJA.format(source=self.source, objects=objects, libraries=libraries))
        subprocess.run(["ninja", "-C", self.build, "--quiet"], check=True)
        commands = subprocess.run(["ninja", "-C", self.build, "-t", "compdb", "cc"], check=True, capture_output=True).stdout
        (self.build / "compile_commands.json").write_bytes(commands)

    def run_on(self, rows, *ids, check=passes):
        """The exit code, what was printed, and what was said on stderr."""
        out, err = io.StringIO(), io.StringIO()
        with mock.patch("sys.argv", ["faults", str(self.source), str(self.build), *ids]):
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = fault_runner.run("", PRODUCT, rows, check)
        return code, out.getvalue(), err.getvalue()

    def test_what_the_check_notices(self):
        for way in (FROM_A_LIBRARY, BY_NAME):
            self.configure(*way)
            before = {path: path.stat().st_mtime_ns for path in (*self.source.rglob("*"), *self.build.rglob("*"))}
            code, printed, _ = self.run_on([IN_HEADER, TWICE])
            self.assertEqual((code, printed.splitlines()), (0, ["noticed   F1    a wrong base", "noticed   F2    two changes",
                                                               "faults in lib: 2 of 2 noticed"]))
            self.assertEqual({path: path.stat().st_mtime_ns for path in before}, before)

    def test_what_it_does_not_notice_is_an_error(self):
        self.configure(*FROM_A_LIBRARY)
        code, printed, _ = self.run_on([IN_HEADER, UNNOTICED])
        self.assertEqual((code, printed.splitlines()[1:]), (1, ["UNNOTICED F3    nobody asks", "faults in lib: 1 of 2 noticed"]))
        self.assertEqual(self.run_on([IN_HEADER, UNNOTICED], "F1")[0], 0)

    def test_rows_that_no_longer_fit(self):
        self.configure(*FROM_A_LIBRARY)
        code, printed, _ = self.run_on([BROKEN])
        self.assertEqual((code, printed.splitlines()[0]), (1, "STALE: does not compile F4    no C++"))
        code, printed, said = self.run_on([IN_HEADER, STALE], "F1")  # also if it is not chosen
        self.assertEqual((code, printed), (1, ""))
        self.assertIn("STALE: F5: lib/answer.cc no longer holds this text once: + 5", said)

    def test_a_check_that_fails_without_a_fault_proves_nothing(self):
        self.configure(*FROM_A_LIBRARY)
        code, printed, said = self.run_on([IN_HEADER], check=lambda *_: False)
        self.assertEqual((code, printed, said), (1, "", "check: fails without any fault\n"))

    def test_an_unknown_id_is_refused(self):
        with self.assertRaises(SystemExit) as caught:
            self.run_on([IN_HEADER], "F9")
        self.assertEqual(caught.exception.code, 2)

    def test_a_header_is_compiled_into_all_that_include_it(self):
        self.configure(*FROM_A_LIBRARY)
        self.assertEqual(Build(self.source, self.build, PRODUCT).dependents("lib/answer.h"), ["lib/answer.cc"])


if __name__ == "__main__":
    unittest.main()
