# SPDX-License-Identifier: Apache-2.0
"""A run as Markdown: one row for each workload, with the speed of the first implementation and one column for each other."""

import numpy as np
from backgauge.case_line import parse_case_line
from backgauge.quantities import counted, percent_text, seconds_text, three_digits
from backgauge.report.charts.ratio import geometric_mean


def tables(run):
    """Lines: time, rate and share of the limit of the first implementation; the times of the others divided by its time."""
    names = run.implementations
    ours, others = names[0], names[1:]
    rate = "GB/s" if all("cell" in workload for workload, _ in run.pairs) else "GFLOP/s"
    head = ["workload", ours, rate, "of limit", "error/bound", *(f"{name} / {ours}" for name in others)]
    lines = [_row(head), _row(["---"] + ["---:"] * (len(head) - 1))]
    ratios, shares = {name: [] for name in others}, []
    for workload in dict.fromkeys(pair.workload for pair in run.pairs.values() if pair.samples):
        own = run.pair(workload, ours)
        cells = [_name(workload), *_own(own, rate, shares)]
        for name in others:
            pair = run.pair(workload, name)
            if _seconds(pair) and _seconds(own):
                ratios[name].append(_seconds(pair) / _seconds(own))
                cells.append(f"{ratios[name][-1]:.2f}" + ("*" if _mistrusted(pair) else ""))
            else:
                cells.append("-")
        lines.append(_row(cells))
    for word, of in (("geometric mean", geometric_mean), ("least", lambda values: min(values, default=float("nan")))):
        lines.append(_row([f"**{word}**", "", "", percent_text(of(shares)), "",
                           *(three_digits(of(ratios[name])) for name in others)]))
    return lines + _footnotes(run, names)


def _own(pair, rate, shares):
    seconds = _seconds(pair)
    if not seconds:
        return ["-"] * 4
    share = pair.counters["seconds_at_limit"] / seconds if "seconds_at_limit" in pair.counters else float("nan")
    shares.append(share)
    amount = pair.counters.get(rate.removesuffix("/s"), float("nan"))
    return [seconds_text(seconds), three_digits(amount / seconds), percent_text(share), f"{pair.error_over_bound:.2f}"]


def _footnotes(run, names):
    versions = {pair.implementation: pair.version for pair in run.pairs.values() if pair.version}
    lines = ["", "Versions: " + ", ".join(f"{name} {versions[name]}" for name in names if name in versions) + "."]
    untimed = {}
    for pair in run.pairs.values():
        if not pair.samples:
            untimed.setdefault(pair.implementation, []).append(f"{pair.verdict}: {pair.reason}")
    for name, reasons in untimed.items():
        others = len(set(reasons)) - 1
        lines.append(f"{name} was not timed on {counted(len(reasons), 'workload')}: {reasons[0]}"
                     + (f"; {counted(others, 'other reason')}" if others else ""))
    if any(_mistrusted(pair) for pair in run.pairs.values()):
        lines.append("\\* MISTRUSTED: the allowed error is too wide to prove anything, because every operation rounds to half.")
    return [line + ("  " if line else "") for line in lines]


def _mistrusted(pair):
    return pair.verdict == "MISTRUSTED"


def _seconds(pair):
    if not pair.samples or pair.unjudged:
        return None
    return float(np.median([sample.seconds for sample in pair.samples]))


def _name(workload):
    case = parse_case_line(workload)
    return f"{case.label} {case.dtype}"


def _row(cells):
    return "| " + " | ".join(cells) + " |"
