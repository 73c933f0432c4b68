# SPDX-License-Identifier: Apache-2.0
"""Rows of a comparison as a table for people, Markdown for pull requests, or JSON."""

import json

from ..case_line import parse_case_line
from ..markdown import escaped, markdown_table, text_table
from ..quantities import ratio_text, seconds_text
from .comparison import MEAN
from .verdict import FASTER, SAME, SLOWER, UNCLEAR

# Verdicts that need attention come first.
_ORDER = (SLOWER, UNCLEAR, FASTER, SAME)


def heading(comparison):
    rule = comparison.rule
    how = "rounds of both interleaved" if comparison.interleaved else "one run after the other"
    again = f", look {rule.look}" if rule.look > 1 else ""
    return (f"base {comparison.base.name}, head {comparison.head.name}: {how}; effects from {100 * rule.min_effect:g} %, "
            f"of the mean from {100 * rule.mean_effect:g} %; alpha {rule.alpha:g} with Holm's correction{again}, "
            f"{100 * (1 - rule.level):.6g} % intervals")


def surroundings_lines(comparison):
    """Whether both sides were timed on the same machine, and what they differ in; what a confined side loaded and was refused."""
    found = comparison.differences
    if not comparison.interleaved or found:
        yield f"NOT THE SAME MACHINE: {'; '.join(each.text for each in found)}" if found else "SAME MACHINE"
    for side, name in ((comparison.base, "base"), (comparison.head, "head")):
        if side.conduct:
            yield f"{name}: {side.conduct}"


def summary(rows, mean):
    """How many rows have which verdict, and the mean."""
    counts = [(word, sum(row.verdict == word for row in rows)) for word in _ORDER]
    return "summary: " + ", ".join(f"{count} {word}" for word, count in counts) + f"; mean of all {mean.verdict}"


def terms_lines(comparison):
    """What the verdicts of bench are about: what each side claims about each op, once if both claim the same."""
    base, head = comparison.base.terms, comparison.head.terms
    ops = list(dict.fromkeys([*base, *head]))
    if base == head:
        return [f"terms of {op}: {base[op]}" for op in ops]
    return [f"terms of {op}, {name}: {side.get(op, 'not known')}" for op in ops for name, side in (("base", base), ("head", head))]


def name_of(row):
    """A workload as people call it, or the geometric mean of how many."""
    if row.workload == MEAN:
        return f"geometric mean of {row.count}"
    return parse_case_line(row.workload).name


def _cells(row):
    if not row.estimates:
        return [row.verdict, name_of(row), "-", "-", "-", "-", "-", row.reason]
    estimate = row.estimates[0]
    seconds = ["", ""] if row.workload == MEAN else map(seconds_text, row.seconds)
    return [row.verdict, name_of(row), *seconds, ratio_text(estimate.ratio),
            f"{ratio_text(estimate.low)} .. {ratio_text(estimate.high)}", f"{max(row.adjusted):.1g}", row.reason]


_HEAD = ["verdict", "workload", "base", "head", "head/base", "interval", "p", "reason"]
_NUMBERS = range(2, 7)  # which of them


def _lines(rows, mean):
    """The rows and the row of the geometric mean as lists of cells."""
    return [_cells(row) for row in (*sorted(rows, key=lambda row: _ORDER.index(row.verdict)), mean)]


def plain(comparison, rows, mean):
    table = text_table(_HEAD, _lines(rows, mean), _NUMBERS)
    return "\n".join([f"backgauge compare: {heading(comparison)}", "", table, "", *terms_lines(comparison), *surroundings_lines(comparison),
                      summary(rows, mean)])


def markdown(comparison, rows, mean):
    return "\n".join([f"**{summary(rows, mean)}**", "", markdown_rows(rows, mean), "", markdown_end(comparison)])


def markdown_end(comparison):
    """What stands below the table: how both sides were compared, and their terms."""
    terms = [f"- {escaped(line)}" for line in (*terms_lines(comparison), *surroundings_lines(comparison))]
    return "\n".join([escaped(heading(comparison)), *(["", *terms] if terms else [])])


def markdown_rows(rows, mean):
    """The table alone."""
    return markdown_table(_HEAD, _lines(rows, mean), _NUMBERS)


def machine(comparison, rows, mean):
    return json.dumps(as_object(comparison, rows, mean), indent=1)


def as_object(comparison, rows, mean):
    """The comparison for programs."""
    return {
        "schema": "backgauge.compare/1",
        "base": comparison.base.name, "head": comparison.head.name, "interleaved": comparison.interleaved,
        "min_effect": comparison.rule.min_effect, "mean_effect": comparison.rule.mean_effect, "alpha": comparison.rule.alpha,
        "look": comparison.rule.look,
        "same_machine": not comparison.differences,
        "differences": [{"what": each.what, "kind": each.kind, "base": each.before, "head": each.after} for each in comparison.differences],
        "untrusted": {"base": comparison.base.conduct, "head": comparison.head.conduct},
        "terms": {"base": comparison.base.terms, "head": comparison.head.terms},
        "workloads": [_entry(row) for row in rows],
        "geometric_mean": _mean_entry(mean)}


def _mean_entry(mean):
    """The verdict on the mean and its numbers, which keep the keys from before there was a verdict."""
    first = mean.estimates[0] if mean.estimates else None
    numbers = {"ratio": first.ratio, "low": _finite(first.low), "high": _finite(first.high)} if first else {}
    return {"verdict": mean.verdict, "reason": mean.reason, **numbers, "p_holm": max(mean.adjusted, default=None),
            "noise": _finite(mean.noise), "workloads": mean.count}


def _entry(row):
    entry = {"workload": row.workload, "verdict": row.verdict, "reason": row.reason}
    if row.estimates:
        entry["seconds"] = list(row.seconds)
        entry["noise"] = _finite(row.noise)
        entry["estimates"] = [{"way": e.way, "ratio": e.ratio, "low": _finite(e.low), "high": _finite(e.high), "p": e.p,
                               "p_holm": p, "rounds": e.rounds} for e, p in zip(row.estimates, row.adjusted)]
    return entry


def _finite(value):
    return value if 0 < value < float("inf") else None


FORMATS = {"text": plain, "markdown": markdown, "json": machine}
