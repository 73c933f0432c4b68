# SPDX-License-Identifier: Apache-2.0
"""Instructions of old and new: a measure that other load does not change, and that needs no statistics."""

import subprocess
from dataclasses import dataclass

from ..case_line import workload_key
from ..errors import CommandError
from ..reading import explained, parse_object, read_text, words

SCHEMA = "backgauge.counts/1"
MORE, FEWER, SAME, UNCLEAR = "MORE", "FEWER", "SAME", "UNCLEAR"

# If calls of the same code differ by more than this, the count is not repeatable: that of threads that poll, for example.
MOST_SPREAD = 0.001


@dataclass(frozen=True)
class Count:
    """One implementation on one workload: a number for each call that was counted."""

    instructions: tuple[float, ...]
    cycles: tuple[float, ...]
    counter: str
    reason: str = ""  # why there is no count


@dataclass(frozen=True)
class CountRow:
    workload: str
    verdict: str
    reason: str
    ratio: float = float("nan")
    spread: float = float("nan")  # of the same code, over its calls and processes
    counter: str = ""


def read_counts(path):
    """{implementation: {workload key: Count}}, in the order of the file. Raises CommandError."""
    found = {}
    try:
        head, *lines = read_text(path).splitlines()
        if parse_object(head).get("schema") != SCHEMA:
            raise ValueError(f"expected schema {SCHEMA}")
        for line in filter(str.strip, lines):
            entry = parse_object(line)
            said = " ".join(filter(None, [words(entry, "verdict"), words(entry, "reason")]))
            count = Count(tuple(map(float, entry["instructions"])), tuple(map(float, entry["cycles"])), words(entry, "counter"),
                          "" if entry["instructions"] else said)
            found.setdefault(words(entry, "implementation"), {})[workload_key(words(entry, "workload"))] = count
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{path}: not counts of backgauge bench: {explained(error)}") from error
    return found


def count(program, implementations, options, out):
    """{implementation: {workload key: Count}} of one program, or why nothing counts here, as text."""
    done = subprocess.run([program, "bench", "--measure=instructions", f"--impl={','.join(implementations)}", *options,
                           f"--out={out}"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not out.exists():
        return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1].removeprefix("backgauge: ")
    return read_counts(out)


def rows_of(base, head, control, min_effect):
    """A row for every workload of base. `control`: base once more, counted in another process."""
    return [_row(workload, one, head.get(workload), control.get(workload), min_effect) for workload, one in base.items()]


def _row(workload, base, head, control, min_effect):
    for side, name in ((base, "base"), (control, "base once more"), (head, "head")):
        if side is None or not side.instructions:
            return CountRow(workload, UNCLEAR, f"no count of {name}: {side.reason if side else 'not there'}")
    same = (*base.instructions, *control.instructions)
    spread = max(max(same) / min(same), max(head.instructions) / min(head.instructions)) - 1
    # The nearest of all pairs of calls, so that no spread can make a difference.
    least, most = min(head.instructions) / max(same), max(head.instructions) / min(same)
    ratio = sum(head.instructions) / len(head.instructions) / (sum(same) / len(same))
    row = CountRow(workload, UNCLEAR, "", ratio, spread, base.counter)
    text = f"{100 * min_effect:g} %"
    if least >= 1 + min_effect:
        return _said(row, MORE, f"at least {text} more")
    if most <= 1 / (1 + min_effect):
        return _said(row, FEWER, f"at least {text} fewer")
    if spread > MOST_SPREAD:
        return _said(row, UNCLEAR, f"calls of the same code differ by {100 * spread:.2g} %")
    if 1 / (1 + min_effect) < least and most < 1 + min_effect:
        return _said(row, SAME, f"within {text}")
    return _said(row, UNCLEAR, "at the threshold itself")


def _said(row, verdict, reason):
    return CountRow(row.workload, verdict, reason, row.ratio, row.spread, row.counter)
