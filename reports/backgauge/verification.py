# SPDX-License-Identifier: Apache-2.0
"""Reads the verdict of a run, `summary.json` of `backgauge verify --out=DIR` (properties/conformance.md)."""

import datetime
import pathlib
from dataclasses import dataclass

from .errors import CommandError
from .reading import explained, number, parse_object, read_text, table, words

SCHEMA = "backgauge.verification/1"


@dataclass(frozen=True)
class VerifiedRun:
    implementation: str
    word: str  # PASSED, FAILED, INCOMPLETE ...
    text: str  # one sentence: why
    kinds: tuple[tuple[str, int], ...] = ()  # of failure, and how many cases
    date: datetime.datetime | None = None  # when it ended
    terms: tuple[tuple[str, str], ...] = ()  # op, and what was claimed about it
    conduct: tuple[str, ...] = ()  # of a confined implementation: what it loaded and was refused

    @property
    def color(self):
        return {"PASSED": "good", "FAILED": "bad", "BROKEN": "bad"}.get(self.word, "unsure")


def read_verified_run(folder):
    """None if `verify` did not write the folder. Raises CommandError."""
    path = pathlib.Path(folder) / "summary.json"
    if not path.is_file():
        began = path.with_name("run.json").is_file()
        return VerifiedRun(path.parent.name, "UNKNOWN", "there is no summary.json, so this run did not end.") if began else None
    try:
        found = parse_object(read_text(path))
        if words(found, "schema") != SCHEMA:
            raise ValueError(f"expected schema {SCHEMA}, got {found['schema']}")
        verdict, run = table(found, "verdict"), table(found, "run")
        kinds = tuple((words(kind, "kind"), int(number(kind, "cases"))) for kind in found["kinds"])
        return VerifiedRun(f"{words(run, 'implementation')} {words(run, 'implementation_version')}", words(verdict, "word"),
                           words(verdict, "text"), kinds, datetime.datetime.fromisoformat(words(run, "finished")),
                           tuple((words(each, "op"), words(each, "text")) for each in found.get("terms", ())),
                           tuple(line for line in found.get("remarks", ()) if isinstance(line, str) and line.startswith("untrusted: ")))
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise CommandError(f"{path}: not a summary of backgauge verify: {explained(error)}") from error
