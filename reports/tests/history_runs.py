# SPDX-License-Identifier: Apache-2.0
"""Histories for tests: synthetic runs, added by `backgauge history add`."""

import contextlib
import datetime
import io
import pathlib
import tempfile
import unittest

from backgauge.errors import CommandError
from backgauge.history.__main__ import main
from synthetic import Noise, Synthetic, block_line

LINES = [block_line("t25b16i512h512"), block_line("t25b64i512h512")]
CALM = Noise(spread=0.004, drift=0.005, hit=0, offset=0.003)
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def commit_id(k):
    return f"{k:08x}{0:032x}"


class HistoryCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.history = self.folder / "history"

    def run_file(self, name, day=0, **options):
        options = {"shares": {"cpu": 0.9}, "noise": CALM} | options
        context = {"date": (START + datetime.timedelta(days=day, hours=1)).isoformat()} | options.pop("context", {})
        return Synthetic(options.pop("lines", LINES), context=context, **options).write(self.folder / name)

    def call(self, *arguments):
        """(exit code, what it printed); an error is (its exit code, its message)."""
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                code = main([*map(str, arguments)])
        except CommandError as error:
            return error.exit_code, str(error)
        return code, out.getvalue()

    def expect(self, code, *arguments):
        got, text = self.call(*arguments)
        self.assertEqual(got, code, text)
        return text

    def add(self, k, folder=None, branch="main", parents=None, day=None, **options):
        """A run of commit k, made on day k and after commit k - 1."""
        day = k if day is None else day
        run = self.run_file(f"run{k}.json", day=day, seed=options.pop("seed", k + 1), **options)
        parents = ([commit_id(k - 1)] if k else []) if parents is None else parents
        made = (START + datetime.timedelta(days=day)).isoformat()
        return self.expect(0, "add", run, f"--commit={commit_id(k)}", f"--branch={branch}", f"--commit-time={made}",
                           f"--parents={','.join(parents)}", f"--history={folder or self.history}").strip()
