# SPDX-License-Identifier: Apache-2.0
"""The files that a gate writes: summary.md for people, gate.json for programs."""

import json
import math

from ..compare import text
from ..markdown import escaped, markdown_table

SCHEMA = "backgauge.gate/1"


def markdown(decision, evidence, policy):
    parts = [f"**{decision.verdict}**: {escaped(decision.line)}", ""]
    if len(decision.findings) > 1:
        parts += [*(f"- {one.verdict}: {escaped(one.text)}" for one in decision.findings), ""]
    if evidence.verified is not None:
        parts += [f"**verify** {escaped(evidence.verified.implementation)}: {evidence.verified.word}. "
                  f"{escaped(evidence.verified.text)}", ""]
        parts += [*(f"- {escaped(op)}: {escaped(terms)}" for op, terms in evidence.verified.terms), ""] if evidence.verified.terms else []
        parts += [*(f"- {escaped(line)}" for line in evidence.verified.conduct), ""] if evidence.verified.conduct else []
        parts += [*(f"- {escaped(kind)}: {number}" for kind, number in evidence.verified.kinds), ""] if evidence.verified.kinds else []
    if evidence.mean is not None:
        parts += [f"**bench** {escaped(text.summary(evidence.rows, evidence.mean))}", "",
                  text.markdown_rows(evidence.rows, evidence.mean), "", text.markdown_end(evidence.comparison), ""]
    if evidence.counts:
        parts += [f"**instructions** of one call, counted by {_counters(evidence.counts)}", "", _counts_table(evidence.counts), ""]
    elif evidence.no_counts:
        parts += [f"**instructions** were not counted: {escaped(evidence.no_counts)}", ""]
    return "\n".join([*parts, f"Policy: {policy.source or 'the defaults'}"]) + "\n"


def _counters(rows):
    names = sorted({row.counter for row in rows if row.counter})
    callgrind = "; callgrind runs the path of a CPU without AVX-512" if "callgrind" in names else ""
    return (", ".join(names) or "nothing") + callgrind


def _counts_table(rows):
    lines = [[row.verdict, text.name_of(row), _digits(row.ratio, 4), _percent(row.spread), row.reason] for row in rows]
    return markdown_table(["verdict", "workload", "head/base", "spread", "reason"], lines, (2, 3))


def _digits(value, digits):
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _percent(value):
    return "-" if math.isnan(value) else f"{100 * value:.3f} %"


def as_json(decision, evidence, policy):
    """gate.json: the verdict, each reason against green, and what was measured."""
    verified = evidence.verified
    compared = text.as_object(evidence.comparison, evidence.rows, evidence.mean) if evidence.mean is not None else None
    return json.dumps({
        "schema": SCHEMA, "verdict": decision.verdict, "exit_code": decision.exit_code, "line": decision.line,
        "findings": [{"verdict": one.verdict, "where": one.where, "why": one.why} for one in decision.findings],
        "policy": policy.source,
        "untrusted": evidence.conduct,
        "verify": None if verified is None else {"word": verified.word, "text": verified.text,
                                                 "terms": [{"op": op, "text": terms} for op, terms in verified.terms],
                                                 "kinds": [{"kind": kind, "cases": number} for kind, number in verified.kinds]},
        "compare": compared,
        "instructions": {"reason": evidence.no_counts, "workloads": [_count(row) for row in evidence.counts]}}, indent=1) + "\n"


def _count(row):
    known = {} if math.isnan(row.ratio) else {"ratio": row.ratio, "spread": row.spread}
    return {"workload": row.workload, "verdict": row.verdict, "reason": row.reason, "counter": row.counter, **known}
