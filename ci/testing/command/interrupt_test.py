# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM end every subcommand in every phase within two seconds, with exit code 130, and all that it has started."""

import os
import pathlib
import pty
import re
import secrets
import signal
import subprocess
import threading
import time
import unittest

from command import C_PLUGINS, CELL, COMMAND, ENVIRONMENT, SANITIZED, CommandTest

WAITS = C_PLUGINS / "waits.so"
PYTHON = os.environ["BACKGAUGE_TEST_PYTHON"]
LARGE = "block_lstm_grad_v2 t200b32i1024h1024 dt=f32 data=training:0x1"  # its expected outputs take minutes
LIMIT = 6 if SANITIZED else 2  # seconds
WAITING = (f"--impl={WAITS}", "--timeout=10m", "--isolate=on")
CELLS = ("--ops=lstm_block_cell_grad", "--tier=smoke")
WRONG = {"BACKGAUGE_TEST_WRONG": "1"}


class Watched:
    """A command in a session of its own, whose stderr is a terminal, so that it shows its phases."""

    def __init__(self, folder, arguments, environment):
        self.hold, self.mark = folder / "hold", secrets.token_hex(8)
        ours, theirs = pty.openpty()
        own = {"BACKGAUGE_TEST_MARK": self.mark, "BACKGAUGE_TEST_HOLD": str(self.hold), **environment}
        self.process = subprocess.Popen([COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
                                        env={**ENVIRONMENT, **own}, cwd=folder, start_new_session=True)
        os.close(theirs)
        self.begin = time.monotonic()
        self.seen = {"stdout": "", "stderr": ""}
        self._readers = [threading.Thread(target=self._read, args=(name, descriptor), daemon=True)
                         for name, descriptor in (("stdout", self.process.stdout.fileno()), ("stderr", ours))]
        for reader in self._readers:
            reader.start()

    def _read(self, name, descriptor):
        try:
            while block := os.read(descriptor, 65536):
                self.seen[name] += block.decode(errors="replace")
        except OSError:  # Linux says EIO where the other side of a terminal is closed
            pass

    def wait_for(self, reached):
        """Until reached(self) is true; False if the command ends first."""
        deadline = time.monotonic() + 120
        while not reached(self):
            if self.process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def living(self):
        """The processes that it has started, and itself."""
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            if folder.name.isdecimal():
                try:
                    if f"BACKGAUGE_TEST_MARK={self.mark}".encode() in (folder / "environ").read_bytes():
                        found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
                except OSError:
                    pass
        return found

    def end(self):
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if folder.name.isdecimal() and f"BACKGAUGE_TEST_MARK={self.mark}".encode() in (folder / "environ").read_bytes():
                    os.kill(int(folder.name), signal.SIGKILL)
            except OSError:
                pass
        self.process.wait()


def after(seconds):
    """It is so far when it has run for this long: it does one thing for minutes."""
    return lambda watched: time.monotonic() > watched.begin + seconds


def shows(pattern):
    return lambda watched: re.search(pattern, watched.seen["stdout"] + watched.seen["stderr"])


def held(where, ready=lambda watched: True):
    """The implementation waits for ever: at this place, after ready(watched)."""
    def reached(watched):
        if not watched.hold.exists() and ready(watched):
            unfinished = watched.hold.with_suffix(".new")
            unfinished.write_text(where)
            unfinished.rename(watched.hold)
        return watched.hold.with_suffix(".reached").exists()
    return reached


def all_judged(watched):
    """verify has recorded every case that its heading counts."""
    planned = re.search(r"(\d+) cases", watched.seen["stdout"])
    records = watched.hold.parent / "out" / "records.jsonl"
    return planned and records.exists() and records.read_bytes().count(b"\n") >= int(planned[1])


def starts(word):
    """One of the processes that the command has started has this in its command line."""
    return lambda watched: any(word in line for line in watched.living())


class Interrupted(CommandTest):
    def check(self, reached, *arguments, environment=()):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(f"{number.name}: {' '.join(map(str, arguments))}"):
                folder = self.folder / secrets.token_hex(4)
                folder.mkdir()
                os.mkfifo(folder / "pipe.json")
                watched = Watched(folder, arguments, dict(environment))
                self.addCleanup(watched.end)
                if not watched.wait_for(reached) and watched.process.wait() == 3:
                    self.skipTest(watched.seen["stderr"].strip())
                self.assertIsNone(watched.process.poll(), watched.seen)
                begin = time.monotonic()
                watched.process.send_signal(number)
                self.assertEqual(watched.process.wait(timeout=60), 130, watched.seen)
                self.assertLess(time.monotonic() - begin, LIMIT, watched.seen)
                while left := watched.living():
                    self.assertLess(time.monotonic() - begin, LIMIT, left)
                    time.sleep(0.01)
                for word in ("Traceback", "BROKEN", *([] if environment is WRONG else ["FAILED"])):
                    self.assertNotIn(word, watched.seen["stdout"] + watched.seen["stderr"])


class Judging(Interrupted):
    def test_while_a_library_is_loaded(self):
        for arguments in (["verify"], ["repro", CELL], ["list"], ["conform"], ["bench", "--case", CELL], ["museum"], ["batches"]):
            self.check(held("load"), *arguments, f"--impl={WAITS}")

    def test_while_a_call_is_judged(self):
        for arguments in (["verify", *CELLS], ["repro", CELL], ["conform", "--dtypes=f32"], ["museum"]):
            self.check(held("run"), *arguments, *WAITING)

    def test_while_inputs_and_expected_outputs_are_made(self):
        for arguments in (["verify", "--impl=cpu", "--case", LARGE], ["repro", LARGE], ["oracle", "--case", LARGE, "--dir=case"],
                          ["bench", "--case", LARGE, "--max-work=1e6"]):
            self.check(after(1), *arguments)

    def test_while_the_implementation_is_checked_as_a_whole(self):
        self.check(held("run", all_judged), "verify", *CELLS, *WAITING, "--out=out")

    def test_while_a_failure_is_made_smaller(self):
        self.check(held("run", shows("examining")), "verify", *CELLS, *WAITING, "--out=out", environment=WRONG)
        self.check(held("run", shows("got")), "repro", CELL, "--shrink", *WAITING, environment=WRONG)

    def test_while_the_checker_is_tested(self):
        for arguments in ([], ["--full"], ["--correct"], ["--calibrate", "--full"], ["--mustpass=1.0"]):
            self.check(after(1), "self", *arguments)

    def test_while_lists_are_made(self):
        self.check(after(0.5), "conform", "--draft=lists", "--mustpass=1.1")


class Timing(Interrupted):
    def test_while_a_contestant_is_judged(self):
        self.check(held("run"), "bench", "--case", CELL, *WAITING)

    def test_while_a_contestant_is_timed(self):
        self.check(held("run", shows("round")), "bench", "--case", CELL, "--reps=10000", *WAITING)


@unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
class InPython(Interrupted):
    def test_while_a_run_is_read(self):
        for arguments in (["report", "pipe.json", "--out=out"], ["compare", "pipe.json", "pipe.json"]):
            self.check(after(3), *arguments)

    def test_while_another_program_works(self):
        two = (f"--impl={WAITS},cpu", "--case", CELL)
        one = (f"--impl={WAITS}", "--baseline=cpu", "--case", CELL, "--out=out")
        self.check(held("run"), "compare", *two)
        self.check(held("run"), "gate", *one)
        self.check(held("run", starts(" bench ")), "gate", *one)

    def test_while_a_commit_is_built(self):
        repository = self.folder / "repository"
        git = ["git", "-C", repository, "-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", "init", "-q", repository], check=True)
        for message in ("good", "bad"):
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
        self.check(starts("sh -c sleep 600"), "history", "bisect", "--build=sleep 600", "--good=HEAD~1", "--bad=HEAD", f"--repository={repository}",
                   "--impl=libmine.so", "--out=out", "--case", CELL)

    def test_while_a_campaign_runs(self):
        self.check(held("run"), "campaign", "--local=2", *CELLS, *WAITING, "--out=out", environment={"BACKGAUGE_PYTHON": PYTHON})


if __name__ == "__main__":
    unittest.main()
