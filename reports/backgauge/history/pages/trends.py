# SPDX-License-Identifier: Apache-2.0
"""Series as templates need them. Places are in percent of the plot, from its upper left corner, so that text keeps its size on
a phone, where the plot is narrow."""

import math

import numpy as np

from ...case_line import parse_case_line
from ...quantities import seconds_text
from ...run import terms_in
from ..changes import DRIFT, STEP
from ..check import SLOWER
from ..text import day, rounded_seconds

_SPARKS = 60  # points of a sparkline, one for every two pixels
_MARKS = 4  # marks that distinguish machines: round or square, filled or hollow


def shown_change(found):
    word = f"{found.verdict} (mended)" if found.verdict == SLOWER and not found.is_slower else found.verdict
    return {"verdict": word, "color": "bad" if found.is_slower else "good" if found.verdict == "FASTER" else "unsure",
            "workload": found.series.key.case_text, "implementation": found.series.key.implementation, "percent": found.percent,
            "range": found.range, "made": day(found.commit(found.change.first).time), "note": found.note, "p": f"{found.change.p:.1g}"}


def overview_row(series, aligned, changes, file):
    """One line of the overview."""
    values = aligned.values
    last = changes and max(changes, key=lambda each: each.change.first)
    is_bad = bool(series.lost) or any(each.is_slower and each.is_new for each in changes)
    return {"file": file, "workload": series.key.case_text, "line": series.key.workload, "implementation": series.key.implementation,
            "setting": series.key.setting_text, "spark": _spark(values), "seconds": float(np.exp(values[-1])),
            "time": seconds_text(float(np.exp(values[-1]))), "runs": len(values),
            "state": "no time" if series.lost else "SLOWER" if is_bad else "", "is_bad": is_bad,
            "last": f"{100 * (last.change.ratio - 1):+.1f} %" if last else "", "ratio": last.change.ratio - 1 if last else "",
            "made": day(last.commit(last.change.first).time) if last else ""}


def _spark(values):
    """The path of a sparkline in a box of 100 x 100: medians of as many runs as fall on a point."""
    parts = np.array_split(values, min(_SPARKS, len(values)))
    levels = [float(np.median(part)) for part in parts]
    low, high = _range(levels)
    return _path([(100 * (k + 0.5) / len(levels), 100 * (high - level) / (high - low)) for k, level in enumerate(levels)])


def _range(values):
    """At least 2 % high, so that noise does not look like a change."""
    low, high = min(values), max(values)
    reach = max(1.08 * (high - low), 0.02) / 2
    return (low + high) / 2 - reach, (low + high) / 2 + reach


def _path(points):
    return "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in points)


def trend(series, aligned, changes):
    values = aligned.values
    # Outliers must not press all other runs into a line: they are drawn at the edge, and the table has their true time.
    low, high = _range(list(np.percentile(values, [1, 99])) + list(aligned.analysis.fit))
    runs = sorted([*((point, value) for point, value in zip(series.points, values)), *((point, math.nan) for point in series.failures)],
                  key=lambda run: run[0].place)
    places = {point.place: 100 * (k + 0.5) / len(runs) for k, (point, _) in enumerate(runs)}
    machine_of = dict(zip((point.place for point in series.points), series.machines))
    machines = list(dict.fromkeys(series.machines))
    bad = _bad_runs(aligned)
    marks, rows, lines = {}, [], []
    order = {point.place: k for k, point in enumerate(series.points)}
    for point, value in runs:
        x = places[point.place]
        if math.isnan(value):
            state, y, time, spread = point.timing.verdict or "no time", 97.0, "-", "-"
            marks.setdefault((0, "lost"), []).append(f"M{x:.5g} {y:.5g}h0")
        else:
            is_bad = order[point.place] in bad
            state, y = "slower" if is_bad else "", min(max(100 * (high - value) / (high - low), 1), 99)
            time, spread = _time(point, series.clock)
            marks.setdefault((machines.index(machine_of[point.place]) % _MARKS, "bad" if is_bad else "good"), []).append(f"M{x:.5g} {y:.5g}h0")
        rows.append({"x": f"{x:.5g}", "y": f"{y:.5g}", "cells": [
            point.entry.commit.short, day(point.entry.commit.time), time, spread, str(len(point.timing.seconds)), str(point.disturbed),
            point.machine_id[:8] or "-", f"{state} {point.timing.reason}".strip() or "ok"]})
    for start, stop, *levels in _spans(aligned):
        ends = zip((start, stop - 1), levels)
        line = _path([(places[series.points[k].place], 100 * (high - level) / (high - low)) for k, level in ends])
        lines.append((line, stop - 1 in bad))
    newest = series.points[-1].entry.context
    return {"series": series, "terms": terms_in(newest, series.key.implementation, parse_case_line(series.key.workload).op), "marks": [(kind, state, "".join(paths)) for (kind, state), paths in sorted(marks.items())],
            "lines": lines, "rows": rows, "machines": [(name[:8] or "-", k % _MARKS) for k, name in enumerate(machines)],
            "changes": [shown_change(each) for each in changes],
            "bars": [{"x": f"{places[each.series.points[each.change.first].place]:.5g}", "kind": each.change.kind, "color": shown_change(each)["color"],
                      "from": f"{places[each.series.points[each.change.earliest].place]:.5g}",
                      "wide": f"{places[each.series.points[each.change.latest].place] - places[each.series.points[each.change.earliest].place]:.5g}"}
                     for each in changes if each.change.kind != DRIFT],
            "switches": [f"{places[series.points[switch.first].place]:.5g}" for switch in aligned.switches] if len(aligned.switches) <= 10 else [],
            "ticks": [(f"{100 * (high - level) / (high - low):.5g}", seconds_text(math.exp(level))) for level in np.linspace(low, high, 5)[1:-1]],
            "dates": [(f"{places[runs[k][0].place]:.5g}", day(runs[k][0].entry.commit.time)) for k in sorted({0, len(runs) // 2, len(runs) - 1})]}


def _time(point, clock):
    low, middle, high = np.percentile(point.times(clock), [25, 50, 75])
    return rounded_seconds(middle, (high - low) / 2), f"{100 * (low / middle - 1):+.1f} .. {100 * (high / middle - 1):+.1f} %"


def _spans(aligned):
    """(first run, run after the last, value at the first, value at the last) of each level and each slope between levels."""
    drifts = [change for change in aligned.analysis.changes if change.kind == DRIFT]
    ends = sorted({*aligned.analysis.bounds, *(end for drift in drifts for end in (drift.first, drift.stop))})
    fit = aligned.analysis.fit
    return [(start, stop, float(fit[start]), float(fit[stop - 1])) for start, stop in zip(ends, ends[1:]) if stop > start]


def _bad_runs(aligned):
    """Places of the runs that are slower, by changes that were found, than a level before them."""
    firsts = {change.first for change in aligned.analysis.changes if change.kind == STEP}
    out, best = set(), math.inf
    for k, level in enumerate(aligned.analysis.fit):
        # Machines whose levels cannot be compared begin again.
        best = math.inf if k in aligned.analysis.bounds and k not in firsts else best
        if level > best + 0.01:  # half of the smallest effect: a level that is reached again is not slower
            out.add(k)
        best = min(best, level)
    return out
