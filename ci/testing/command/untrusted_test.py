# SPDX-License-Identifier: Apache-2.0
"""--untrusted: which processes are confined, what is reported, and where the option is refused."""

import ctypes
import functools
import json
import os
import pathlib
import platform
import unittest

from command import C_PLUGINS, CELL, PLAIN, SANITIZED, CommandTest, run

HERE = pathlib.Path(__file__).resolve().parent
NUMPY = HERE.parents[2] / "impl" / "numpy" / "lstm_block_cell_grad.py"
PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]
IN_C = C_PLUGINS / "plugin_in_c.so"

LANDLOCK = 444
SECCOMP = {"x86_64": 317, "aarch64": 277}.get(platform.machine())


@functools.cache
def lacking():
    """Why this machine cannot confine anything, or ""."""
    done = run("verify", "--untrusted", f"--impl={IN_C}", "--case", CELL)
    return done.stderr if done.returncode == 2 else ""


def without(call):
    """Run before a program: to it, the system call of this number is not implemented."""
    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]

    load_number, equal, answer = 0x20, 0x15, 0x06
    not_implemented, allowed = 0x00050000 | 38, 0x7fff0000
    filter_ = (Instruction * 4)((load_number, 0, 0, 0), (equal, 0, 1, call), (answer, 0, 0, not_implemented), (answer, 0, 0, allowed))
    program = Program(4, filter_)
    libc = ctypes.CDLL(None, use_errno=True)

    def restrict():
        no_new_privileges, set_seccomp, mode_filter = 38, 22, 2
        if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_seccomp, mode_filter, ctypes.byref(program), 0, 0):
            raise OSError(ctypes.get_errno(), "seccomp")
    return restrict


class Refused(CommandTest):
    def test_a_machine_that_lacks_a_protection_is_refused_in_one_line(self):
        for call, name in ((LANDLOCK, r"Landlock \(files\)"), (SECCOMP, r"seccomp \(system calls\)")):
            if call is None or (lacking() and name.split()[0] not in lacking()):
                continue
            with self.subTest(name=name):
                for command in (["verify"], ["bench"]):
                    done = self.expect(2, *command, "--untrusted", f"--impl={IN_C}", "--case", CELL, preexec_fn=without(call))
                    self.assertRegex(done.stderr, rf"^backgauge: --untrusted: this machine cannot confine a process: it lacks "
                                                  rf"{name}: Function not implemented\. --untrusted=as-far-as-possible goes on without\n$")
                done = self.expect(0, "verify", "--untrusted=as-far-as-possible", f"--impl={IN_C}", "--case", CELL, preexec_fn=without(call))
                self.assertRegex(done.stdout, rf"\nuntrusted: not confined by {name}: Function not implemented")

    def test_wrong_usage(self):
        self.expect_complaint(2, "as-far-as-possible", "verify", "--untrusted=perhaps", f"--impl={IN_C}")
        self.expect_complaint(2, "--isolate=off", "verify", "--untrusted", "--isolate=off", f"--impl={IN_C}", "--case", CELL)


@unittest.skipIf(lacking(), lacking())
class Confined(CommandTest):
    def kernel(self, text):
        file = self.folder / "kernel.py"
        file.write_text("import backgauge\n" + text)
        return [f"--impl={file}", f"--python={PYTHON}"]

    def test_an_honest_library_passes_a_tier_and_is_named(self):
        done = self.expect(0, "verify", "--untrusted", f"--impl={IN_C}", "--tier=smoke")
        self.assertRegex(done.stdout, r"summary: \d{3,} passed, 0 failed, 0 mistrusted, \d+ skipped, 0 broken.*\nuntrusted: confined; loads plugin_in_c\.so\n$")

    def test_what_is_built_in_is_confined_as_well(self):
        done = self.expect(0, "repro", CELL, "--impl=cpu", "--untrusted")
        self.assertTrue(done.stdout.endswith("\nuntrusted: confined\n"), done.stdout)

    def test_the_verdicts_are_the_same(self):
        def verdicts(name, *options):
            out = self.folder / name
            self.expect(0, "verify", f"--impl={PLAIN}", "--tier=smoke", "--ops=block_lstm_grad_v2", f"--out={out}", *options)
            records = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
            return [{key: value for key, value in record.items() if key != "ms"} for record in records]
        self.assertEqual(verdicts("confined", "--untrusted"), verdicts("free"))

    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
    def test_what_is_not_timed_is_no_success(self):
        out = self.folder / "run.json"
        arguments = ["bench", f"--impl=plain,{IN_C}", "--reps=2", "--min-time=1", "--launches=1", f"--out={out}"]
        block = "block_lstm_grad_v2 t5b3i4h2 peep=1 dt=f32 data=strat:0x1"  # not an op of plugin_in_c
        self.expect(0, *arguments, "--untrusted", f"--case={CELL}", f"--case={block}")
        context = json.loads(out.read_text())["context"]
        said = [text for key, text in context.items() if key.startswith("untrusted/") and "plugin_in_c.so" in text]
        self.assertEqual(said, ["untrusted: confined; loads plugin_in_c.so"])
        self.expect(5, *arguments, "--untrusted", f"--case={block}")
        self.expect(0, *arguments, f"--case={block}")

    @unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
    def test_a_python_kernel(self):
        done = self.expect(0, "verify", "--untrusted", f"--impl={NUMPY}", f"--python={PYTHON}", "--tier=smoke")
        self.assertRegex(done.stdout, r"summary: [1-9]\d{2,} passed, 0 failed")
        self.assertRegex(done.stdout, r"\nuntrusted: confined; loads .*openblas")

    @unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
    def test_all_parts_of_a_staged_kernel_are_timed(self):
        def seconds(*options):  # of a call that sleeps for 30 ms before its timed part
            out = self.folder / "run.json"
            self.expect(0, "bench", f"--impl={HERE.parent / 'kernels' / 'staged_cell.py'}", f"--python={PYTHON}", f"--case={CELL}", "--reps=2",
                        "--min-time=1", "--launches=1", f"--out={out}", *options, environment={"BACKGAUGE_TEST_KERNEL": "sleeps before", "BACKGAUGE_VARIABLES": "BACKGAUGE_TEST_KERNEL"})
            lines = [json.loads(line) for line in out.with_suffix(".samples.jsonl").read_text().splitlines()]
            return min(line["seconds"] for line in lines if "seconds" in line)
        self.assertGreaterEqual(seconds("--untrusted"), 0.03)
        self.assertLess(seconds(), 0.03)

    @unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
    def test_a_python_kernel_cannot_reach_out_while_it_is_loaded(self):
        for text, said in (
                ("import subprocess\nsubprocess.run(['true'])\n", "PermissionError"),
                ("import os\nos.fork()\n", "PermissionError"),
                ("import socket\nsocket.create_connection(('127.0.0.1', 9))\n", "PermissionError"),
                ("open('/etc/passwd')\n", "PermissionError"),
                (f"open({str(self.folder / 'new')!r}, 'w')\n", "PermissionError"),
                ("import os\nos.kill(os.getppid(), 0)\n", "PermissionError")):
            with self.subTest(text=text):
                self.assertIn(said, self.expect(3, "verify", "--untrusted", *self.kernel(text), "--case", CELL).stderr)
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    unittest.main()
