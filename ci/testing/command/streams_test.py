# SPDX-License-Identifier: Apache-2.0
"""The output during a run: stderr, terminals, Ctrl-C."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time
import unittest

from command import COMMAND, ENVIRONMENT, HEARTBEAT, CommandTest


class Terminal(CommandTest):
    COLUMNS = 60

    def on_terminal(self, *arguments):
        """What a terminal that is stderr sees; stdout is a pipe."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"this machine has no pseudo-terminals: {error}")
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, self.COLUMNS, 0, 0))
        process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=theirs, env=ENVIRONMENT)
        os.close(theirs)
        seen = b""
        try:
            while block := os.read(ours, 65536):
                seen += block
        except OSError:  # Linux says EIO where the other side is closed
            pass
        self.assertEqual(process.wait(timeout=300), 0)
        return seen.decode()

    def test_progress_on_a_terminal(self):
        seen = self.on_terminal("verify", "--tier=smoke", "--impl=plain", "--ops=lstm_block_cell_grad")
        self.assertRegex(seen, r"\[\d+/\d{3,}\] 0 failed")
        self.assertTrue(seen.endswith("\r\033[K"), "the line is gone in the end")
        for line in seen.split("\r\033[K"):
            self.assertLess(len(line), self.COLUMNS)

    def test_nothing_on_a_pipe(self):
        done = self.expect(0, "verify", "--tier=smoke", "--impl=plain", "--ops=lstm_block_cell_grad")
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\r", done.stdout)
        self.assertNotIn("\033", done.stdout)


class Interrupted(CommandTest):
    def test_what_is_written_is_whole(self):
        for stop in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=stop.name):
                out = self.folder / stop.name
                process = subprocess.Popen([COMMAND, "verify", "--tier=ci", "--jobs=2", f"--out={out}"],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
                deadline = time.monotonic() + 120
                records = out / "records.jsonl"
                while not (records.exists() and b"\n" in records.read_bytes()):
                    self.assertIsNone(process.poll())
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.01)
                process.send_signal(stop)
                stdout, stderr = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 130, stdout + stderr)
                self.assertEqual(HEARTBEAT.sub("", stderr), "")
                text = records.read_text()
                self.assertTrue(text.endswith("\n"))
                for line in text.splitlines():
                    self.assertEqual(json.loads(line)["schema"], "backgauge.record/1")
                self.assertRegex(stdout, rf"interrupted after {len(text.splitlines())} of \d+ cases\n")
                self.assertTrue((out / "junit.xml").exists())


if __name__ == "__main__":
    unittest.main()
