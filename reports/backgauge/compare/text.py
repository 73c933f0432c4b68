# SPDX-License-Identifier: Apache-2.0
"""Rows of a comparison as a table for people, Markdown for pull requests, or JSON."""

import json

from ..case_line import OP_NAMES, parse_case_line
from ..markdown import escaped, markdown_table
from ..quantities import ratio_text, seconds_text
from .statistics import LEAST_ROUNDS, geometric_mean
from .verdict import FASTER, SAME, SLOWER, UNCLEAR

# Verdicts that need attention come first.
_ORDER = (SLOWER, UNCLEAR, FASTER, SAME)


def heading(comparison):
    rule = comparison.rule
    how = "rounds of both interleaved" if comparison.interleaved else "one run after the other"
    return (f"base {comparison.base.name}, head {comparison.head.name}: {how}; effects from {100 * rule.min_effect:g} %, "
            f"alpha {rule.alpha:g} with Holm's correction, {100 * (1 - rule.alpha):g} % intervals")


def summary(rows):
    counts = [(word, sum(row.verdict == word for row in rows)) for word in _ORDER]
    return "summary: " + ", ".join(f"{count} {word}" for word, count in counts)


def mean_of(rows):
    """(ratio, low, high, how many) over the rows with enough rounds, using the first estimate of each."""
    estimates = [row.estimates[0] for row in rows if row.estimates and row.estimates[0].rounds >= LEAST_ROUNDS]
    if not estimates:
        return (float("nan"),) * 3 + (0,)
    return (*geometric_mean(estimates), len(estimates))


def _cells(row):
    case = parse_case_line(row.workload)
    name = f"{OP_NAMES.get(case.op, case.op)} {case.label} {case.dtype}"
    if not row.estimates:
        return [row.verdict, name, "-", "-", "-", "-", "-", row.reason]
    estimate = row.estimates[0]
    return [row.verdict, name, *map(seconds_text, row.seconds), ratio_text(estimate.ratio),
            _interval(estimate.low, estimate.high), f"{max(row.adjusted):.1g}", row.reason]


def _interval(low, high):
    return f"{ratio_text(low)} .. {ratio_text(high)}"


_HEAD = ["verdict", "workload", "base", "head", "head/base", "interval", "p", "reason"]
_NUMBERS = range(2, 7)  # which of them


def _table(rows):
    """Head, rows and the row of the geometric mean as lists of cells."""
    ordered = sorted(rows, key=lambda row: _ORDER.index(row.verdict))
    ratio, low, high, count = mean_of(rows)
    mean = ["", f"geometric mean of {count}", "", "", ratio_text(ratio), _interval(low, high), "", ""]
    return [_HEAD, *map(_cells, ordered), mean]


def plain(comparison, rows):
    table = _table(rows)
    widths = [max(len(line[k]) for line in table) for k in range(len(_HEAD))]
    lines = ["  ".join(cell.rjust(widths[k]) if k in _NUMBERS else cell.ljust(widths[k])
                       for k, cell in enumerate(line)).rstrip() for line in table]
    return "\n".join([f"backgauge compare: {heading(comparison)}", "", *lines, "", summary(rows)])


def markdown(comparison, rows):
    head, *lines = _table(rows)
    return "\n".join([f"**{summary(rows)}**", "", markdown_table(head, lines, _NUMBERS), "", escaped(heading(comparison))])


def machine(comparison, rows):
    ratio, low, high, count = mean_of(rows)
    return json.dumps({
        "schema": "backgauge.compare/1",
        "base": comparison.base.name, "head": comparison.head.name, "interleaved": comparison.interleaved,
        "min_effect": comparison.rule.min_effect, "alpha": comparison.rule.alpha,
        "workloads": [_entry(row) for row in rows],
        "geometric_mean": {"ratio": ratio, "low": low, "high": high, "workloads": count}}, indent=1)


def _entry(row):
    entry = {"workload": row.workload, "verdict": row.verdict, "reason": row.reason}
    if row.estimates:
        entry["seconds"] = list(row.seconds)
        entry["estimates"] = [{"way": e.way, "ratio": e.ratio, "low": _finite(e.low), "high": _finite(e.high), "p": e.p,
                               "p_holm": p, "rounds": e.rounds} for e, p in zip(row.estimates, row.adjusted)]
    return entry


def _finite(value):
    return value if 0 < value < float("inf") else None


FORMATS = {"text": plain, "markdown": markdown, "json": machine}
