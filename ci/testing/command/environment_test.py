# SPDX-License-Identifier: Apache-2.0
"""The environment of the command: closed streams, limits, files that cannot be written, two runs at once, settings."""

import fcntl
import os
import pathlib
import re
import resource
import signal
import subprocess
import unittest

from command import C_PLUGINS, CELL, COMMAND, ENVIRONMENT, PLAIN, PLUGINS, SANITIZED, SETTINGS, CommandTest

BAD = PLUGINS / "changes_an_input.so"
CRASHING = C_PLUGINS / "crashing_plugin.so"
SOURCE = pathlib.Path(__file__).resolve().parents[3]
LISTED = re.findall(r"^\| `(BACKGAUGE_\w+)`", (SOURCE / "ci" / "README.md").read_text(), re.MULTILINE)

# What a tester has chosen for the whole session and the command does not read, or only an implementation.
NOT_FOR_COMMANDS = ["BACKGAUGE_CALLGRIND_OUT", "BACKGAUGE_COMMAND", "BACKGAUGE_CPU", "BACKGAUGE_CUDA_GRAPH",
                    "BACKGAUGE_CUDA_MATH", "BACKGAUGE_CUDA_STEPS", "BACKGAUGE_CUDNN_ALGO", "BACKGAUGE_CUDNN_GRAPH",
                    "BACKGAUGE_CUDNN_MATH", "BACKGAUGE_ONEDNN_PLUGIN", "BACKGAUGE_WORKER"]


def limited(which, soft, hard=None):
    return {"preexec_fn": lambda: resource.setrlimit(which, (soft, hard or soft))}


class Streams(CommandTest):
    def run_shell(self, redirection, *arguments):
        words = " ".join(f"'{word}'" for word in map(str, [COMMAND, *arguments]))
        return subprocess.run(["bash", "-c", f"{words} {redirection}"], capture_output=True, text=True, timeout=300,
                              env=ENVIRONMENT)

    def test_closed_streams_accuse_nobody(self):
        for redirection in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
            with self.subTest(redirection=redirection):
                done = self.run_shell(redirection, "verify", f"--impl={PLAIN}", "--case", CELL, f"--out={self.folder}")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn('"status":"PASSED"', (self.folder / "records.jsonl").read_text())

    def test_ignored_children_are_heard_of(self):
        done = self.expect(1, "verify", f"--impl={CRASHING}", "--case", CELL,
                           preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertIn("crash: SIGABRT in run", done.stdout)


@unittest.skipIf(SANITIZED, "sanitizers need more stack and memory than these limits leave")
class Limits(CommandTest):
    def test_a_small_stack_is_refused_in_words(self):
        self.expect_complaint(2, "ulimit -s", "verify", "--case", CELL, **limited(resource.RLIMIT_STACK, 256 << 10))

    def test_a_small_stack_that_may_grow_grows(self):
        limit = limited(resource.RLIMIT_STACK, 256 << 10, resource.getrlimit(resource.RLIMIT_STACK)[1])
        self.expect(0, "verify", f"--impl={PLAIN}", "--case", CELL, **limit)

    def test_files_that_may_not_grow_are_reported(self):
        limit = limited(resource.RLIMIT_FSIZE, 64 << 10)
        done = self.expect(6, "verify", f"--impl={PLAIN}", "--case", CELL, **limit)
        self.assertIn("ulimit -f", done.stderr)
        self.expect(0, "verify", "--case", CELL, **limit)


class Files(CommandTest):
    def test_what_cannot_be_written_is_known_before(self):
        regression = "/nonexistent/regressions.txt"
        for subcommand in (["verify", "--case", CELL], ["repro", CELL]):
            self.expect_complaint(2, regression, *subcommand, f"--impl={BAD}", f"--add-regression={regression}")
            self.expect_complaint(2, str(self.folder), *subcommand, f"--impl={BAD}", f"--add-regression={self.folder}")
        for name in ("junit.xml", "records.jsonl", "run.json", "shrunk.jsonl"):
            out = self.folder / name.replace(".", "_")
            (out / name).mkdir(parents=True)
            self.expect_complaint(2, name, "verify", "--case", CELL, f"--out={out}")

    def test_asking_leaves_no_file(self):
        file = self.folder / "regressions.txt"
        self.expect(0, "verify", "--case", CELL, f"--add-regression={file}")
        self.assertFalse(file.exists())

    def test_a_folder_that_vanishes_does_not_cost_the_summary(self):
        out = self.folder / "out"
        process = subprocess.Popen([COMMAND, "verify", "--tier=smoke", "--jobs=1", "--impl=plain",
                                    "--ops=lstm_block_cell_grad", f"--out={out}"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        first = process.stdout.readline()
        for file in out.iterdir():
            file.unlink()
        out.rmdir()
        rest, complaint = process.communicate(timeout=300)
        self.assertRegex(rest, r"\nsummary: [1-9]\d* passed, 0 failed", first)
        self.assertRegex(complaint, f"backgauge: --out={out}: .*")
        self.assertEqual(process.returncode, 6)

    def test_one_run_at_a_time_writes_to_a_folder(self):
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.expect_complaint(2, "another run is writing there", "verify", "--case", CELL, f"--out={self.folder}")
        fcntl.flock(folder, fcntl.LOCK_UN)
        self.expect(0, "verify", "--case", CELL, f"--out={self.folder}")

    def test_only_files_are_read(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for path in (fifo, "/dev/zero", self.folder):
            self.expect_complaint(2, str(path), "merge", path, f"--out={self.folder / 'all'}")
            self.expect_complaint(2, str(path), "verify", "--tier=smoke",
                                  environment={"BACKGAUGE_REGRESSIONS": str(path)})


class Words(CommandTest):
    def test_amounts_of_memory(self):
        for amount in ("-1", "99999999999999999999", "9000000000G", "2X", "", "nan", "1.5G"):
            self.expect_complaint(2, "--memory-limit", "verify", "--case", CELL, f"--memory-limit={amount}")
        for amount in ("0", "512M", "2G", "2GB"):
            self.expect(0, "verify", f"--impl={PLAIN}", "--case", CELL, f"--memory-limit={amount}")

    def test_names_that_nobody_has(self):
        self.expect_complaint(2, "NOPE", "self", "--only=NOPE")
        self.expect_complaint(2, "A2", "self", "--only=A2.rnn", "--ops=lstm_block_cell_grad")

    def test_flags_take_no_values_and_subcommands_come_alone(self):
        self.expect_complaint(2, "full", "self", "--full=2")
        self.expect_complaint(2, "verify", "verify", "verify")

    def test_what_is_echoed_is_short_and_printable(self):
        done = self.expect_complaint(2, "\\x1b[2J", "repro", "\x1b[2J" + "x" * 100_000)
        self.assertLess(len(done.stderr), 5000)
        self.assertNotIn("\x1b", done.stderr)


class Settings(unittest.TestCase):
    """Every BACKGAUGE_* variable that a program or script reads is in one list."""

    def test_are_all_in_the_list(self):
        listed = set(LISTED)
        read = set()
        for pattern, files in [
                (r'(?:getenv|envname|setting|environment)\("(BACKGAUGE_\w+)"', ("ci", "impl", "perf", "properties", "reference")),
                (r'environ(?:\.get\(|\[)"(BACKGAUGE_\w+)"', ("ci", "impl", "perf", "properties", "reports")),
                (r'\$\{(BACKGAUGE_\w+):-', ("ci",))]:
            for folder in files:
                for file in (SOURCE / folder).rglob("*"):
                    if not file.is_file() or "testing" in file.parts or "tests" in file.parts:
                        continue
                    if file.suffix in (".cc", ".h", ".py", ".cu", "") and not file.name.endswith(("_test.cc", "_test.py")):
                        read |= set(re.findall(pattern, file.read_text(errors="replace")))
        self.assertGreater(len(read), 15)
        read -= {"BACKGAUGE_CASE", "BACKGAUGE_EXTRA_GOLDENS"}  # of tests
        self.assertEqual(sorted(read - listed), [], "read and not listed")
        self.assertEqual(sorted(listed - read), ["BACKGAUGE_CALLGRIND_OUT", "BACKGAUGE_WORKER"],
                         "listed and not read: the program sets them for its own processes")

    def test_do_not_steer_these_tests(self):
        self.assertEqual(sorted(set(LISTED) - {"BACKGAUGE_" + word for word in SETTINGS}), NOT_FOR_COMMANDS)


if __name__ == "__main__":
    unittest.main()
