# SPDX-License-Identifier: Apache-2.0
"""One remembered run: a file of the history. README.md in this folder documents the format."""

import datetime
import functools
import json
import math
import re
from dataclasses import dataclass

from ..case_line import CaseLine, parse_case_line
from ..reading import amount, parse_object, table, words
from ..run import Run

SCHEMA = "backgauge.history/1"
_SCHEMA = re.compile(r"backgauge\.history/(\d+)")
_NEWEST = 1

# The clock has a resolution of 1 ns and a sample takes 25 ms: nine digits hold all that was measured.
_DIGITS = 9
_NUMBERS = frozenset({int, float, bool, type(None)})
_NAN = float("nan")
# Two years have the same few hundred lines again and again.
_parsed_line = functools.lru_cache(maxsize=10_000)(parse_case_line)


@dataclass(frozen=True)
class Commit:
    id: str
    time: datetime.datetime  # with a time zone
    parents: tuple[str, ...]

    @property
    def short(self):
        return self.id[:10]


@dataclass(frozen=True)
class Timing:
    """One implementation on one workload, round by round; the lists are equally long, and empty without a time."""

    workload: str  # the case line without its checksum
    implementation: str
    suite: str
    version: str
    verdict: str
    reason: str
    error_over_bound: float
    rounds: list[int]
    seconds: list[float]  # per call
    cpu_seconds: list[float]  # CPU time per call; nan if bench did not say
    calls: list[int]  # 0 if unknown
    fma_gflops: list[float]  # multiply-add loop in the same round; nan if it was not run
    disturbed: list[bool]

    @property
    def case(self) -> CaseLine:
        return _parsed_line(self.workload)

    @property
    def has_time(self):
        return bool(self.seconds) and self.verdict in ("PASSED", "")


@dataclass(frozen=True)
class Entry:
    commit: Commit
    branch: str
    measured: datetime.datetime
    context: dict  # of the run, as bench wrote it
    timings: list[Timing]
    file: str = ""  # its name in the history


def entry_of(run: Run, commit, branch, now):
    """On input a run of bench; `now` is its time if the run does not say when it was measured."""
    date = run.context.get("date")
    measured = parse_time(date) if isinstance(date, str) else now
    timings = [_timing_of(workload, pair) for (workload, _), pair in run.pairs.items()]
    return Entry(commit, branch, measured, run.context, timings)


def _timing_of(workload, pair):
    samples = sorted(pair.samples, key=lambda sample: sample.round)
    return Timing(workload, pair.implementation, pair.suite, pair.version, pair.verdict, pair.reason, pair.error_over_bound,
                  [s.round for s in samples], [s.seconds for s in samples], [s.cpu_seconds for s in samples],
                  [s.calls for s in samples], [s.fma_gflops for s in samples], [s.disturbed for s in samples])


def parse_time(text):
    """ISO 8601 with a time zone. Raises ValueError."""
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"expected a time such as 2026-01-31T12:00:00+00:00, got {text!r}") from error
    if time.tzinfo is None:
        raise ValueError(f"expected a time with a time zone, such as 2026-01-31T12:00:00+00:00, got {text!r}")
    return time.astimezone(datetime.UTC)


def text_of(entry):
    """The contents of its file: a line of JSON for the run, then one for each timing."""
    head = {"schema": SCHEMA, "branch": entry.branch, "measured": entry.measured.isoformat(),
            "commit": {"id": entry.commit.id, "time": entry.commit.time.isoformat(), "parents": list(entry.commit.parents)},
            "context": entry.context}
    return "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in [head, *map(_line_of, entry.timings)])


def _line_of(timing):
    return {"workload": timing.workload, "implementation": timing.implementation, "suite": timing.suite,
            "version": timing.version, "verdict": timing.verdict, "reason": timing.reason,
            "error_over_bound": _number(timing.error_over_bound), "rounds": timing.rounds,
            "seconds": list(map(_number, timing.seconds)), "cpu_seconds": list(map(_number, timing.cpu_seconds)),
            "calls": timing.calls, "fma_gflops": list(map(_number, timing.fma_gflops)),
            "disturbed": [int(value) for value in timing.disturbed]}


def _number(value):
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None


def read_entry(text, file):
    """Raises ValueError, KeyError if the text is not that of an entry."""
    lines = text.splitlines()
    head = parse_object(lines[0] if lines else "")
    check_schema(words(head, "schema"))
    commit = table(head, "commit")
    parents = commit["parents"]
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise ValueError("parents: expected a list of commits")
    return Entry(Commit(words(commit, "id"), parse_time(words(commit, "time")), tuple(parents)), words(head, "branch"),
                 parse_time(words(head, "measured")), table(head, "context"),
                 [_read_timing(parse_object(line)) for line in lines[1:]], file)


def check_schema(schema):
    version = _SCHEMA.fullmatch(schema)
    if not version or not 1 <= int(version[1]) <= _NEWEST:
        newer = " (written by a newer backgauge)" if version and int(version[1]) > _NEWEST else ""
        raise ValueError(f"schema {schema}{newer}, expected {SCHEMA}")


def _read_timing(line):
    _parsed_line(words(line, "workload"))
    seconds = _numbers(line, "seconds")
    if not all(value > 0 for value in seconds):
        raise ValueError("seconds: expected numbers above 0")
    timing = Timing(words(line, "workload"), words(line, "implementation"), words(line, "suite"), words(line, "version"),
                    words(line, "verdict"), words(line, "reason"), amount(line, "error_over_bound"),
                    list(map(int, _numbers(line, "rounds"))), seconds, _numbers(line, "cpu_seconds"),
                    list(map(int, _numbers(line, "calls"))), _numbers(line, "fma_gflops"),
                    list(map(bool, _numbers(line, "disturbed"))))
    for name in ("rounds", "cpu_seconds", "calls", "fma_gflops", "disturbed"):
        if len(getattr(timing, name)) != len(seconds):
            raise ValueError(f"{name}: expected {len(seconds)} values, one for each of seconds, got {len(getattr(timing, name))}")
    return timing


def _numbers(line, key):
    values = line[key]
    if not isinstance(values, list) or not _NUMBERS.issuperset(map(type, values)):
        raise ValueError(f"{key}: expected a list of numbers")
    return [_NAN if value is None else value for value in values] if None in values else values
