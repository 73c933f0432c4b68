# SPDX-License-Identifier: Apache-2.0
"""The result of a campaign."""

import collections
import dataclasses
import html
import json
import pathlib
from typing import Any

from backgauge.records import RECORD_SCHEMA


@dataclasses.dataclass(frozen=True)
class Failure:
    """One kind of failure."""

    kind: str  #: "block_lstm_grad_v2 x_grad value"
    cases: int  #: that failed so
    line: str  #: the simplest case that was found, or the first
    reason: str  #: the wrong element: got, want, the ratio of error and allowed error
    hint: str  #: a known error that gives these numbers, or ""
    repro: str  #: what runs the case again
    record: dict[str, Any]

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.cases} failure{'s' if self.cases > 1 else ''}", f"  {self.line}", f"  {self.reason}"]
        lines += [f"  hint: {self.hint}"] if self.hint else []
        return "\n".join([*lines, f"  repro: {self.repro}"])


class Result:
    """
    passed    True if cases were judged and none FAILED or was BROKEN; also what bool() says
    counts    dict: passed, failed, mistrusted, skipped, broken; as of the summary
    failures  list of Failure, the most common first
    records   list of dicts, one for each case: properties/judge/README.md lists the keys
    table     what the command prints: the failures, the table, the summary; also what str() says
    junit     the text of junit.xml
    """

    passed: bool
    table: str
    junit: str
    records: list[dict[str, Any]]
    counts: dict[str, int]
    failures: list[Failure]

    def __init__(self, folder, table, passed, repro):
        folder = pathlib.Path(folder)
        self.records, shrunk = _read(folder / "records.jsonl"), _read(folder / "shrunk.jsonl")
        lines = [record["id"] for record in (*self.records, *shrunk)]
        self.passed, self.table = passed, repro.in_text(table, lines)
        self.junit = repro.in_text(folder.joinpath("junit.xml").read_text(encoding="utf-8"), lines)
        statuses = collections.Counter(record["status"].lower() for record in self.records)
        self.counts = {word: statuses[word] for word in ("passed", "failed", "mistrusted", "skipped", "broken")}
        self.failures = _failures(self.records, shrunk, repro)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        counted = ", ".join(f"{count} {word}" for word, count in self.counts.items())
        return f"<backgauge.Result: {'passed' if self.passed else 'not passed'}; {counted}>"

    def _repr_html_(self):
        """For a notebook."""
        return f"<pre>{html.escape(self.table)}</pre>"


def _read(file):
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    records = [json.loads(line) for line in lines]
    return [record for record in records if record["schema"] == RECORD_SCHEMA]


def _failures(records, shrunk, repro):
    simplest = {record["shrunk_from"]: record for record in shrunk}
    kinds = {}
    for record in records:
        if record["status"] in ("FAILED", "BROKEN"):
            kinds.setdefault((record["op"], record.get("kind", record["reason"])), []).append(record)
    out = []
    for (op, kind), members in kinds.items():
        first = members[0]
        shown = simplest.get(first["id"], first)
        hint = shown.get("hint") or first.get("hint", "")
        out.append(Failure(f"{op} {kind}", len(members), shown["id"], shown["reason"], hint, repro.of(shown["id"]), shown))
    return sorted(out, key=lambda failure: -failure.cases)
