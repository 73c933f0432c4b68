# SPDX-License-Identifier: Apache-2.0
"""The table of all runs as cells, for the sortable table of the page, the summary and table.csv."""

import csv
import io
import math

from ..case_line import OP_NAMES
from ..quantities import percent_text, ratio_text, seconds_text, three_digits
from ..table import groups
from .charts.chart import slug


def anchor(workload):
    return "case-" + slug(workload)


def best_peer_ratios(rows, subject):
    """{(setting, workload): the fastest other's time / the subject's time}."""
    found = {}
    for key, of_key in groups([row for row in rows if row.is_comparable], lambda row: (row.setting, row.workload)).items():
        ours = [row.seconds for row in of_key if row.implementation == subject]
        others = [row.seconds for row in of_key if row.implementation != subject]
        if ours and others:
            found[key] = min(others) / ours[0]
    return found


# (heading, is a number, cell of a row as (text, sort key))
COLUMNS = (
    ("workload", False, lambda row: (f"{OP_NAMES.get(row.case.op, row.case.op)} {row.case.label} {row.case.dtype}",
                                     row.workload)),
    ("implementation", False, lambda row: (row.implementation, row.implementation)),
    ("threads", True, lambda row: (str(row.setting.threads), row.setting.threads)),
    ("time", True, lambda row: (seconds_text(row.seconds), row.seconds)),
    ("spread", True, lambda row: (_spread(row), (row.high - row.low) / row.seconds)),
    ("GFLOP/s", True, lambda row: (three_digits(row.gflops), row.gflops)),
    ("GB/s", True, lambda row: (three_digits(row.gbps), row.gbps)),
    ("% of limit", True, lambda row: (percent_text(row.share_of_limit), row.share_of_limit)),
    ("error / allowed", True, lambda row: (three_digits(row.error_over_bound), row.error_over_bound)),
    ("first call", True, lambda row: (seconds_text(row.first_call_seconds), row.first_call_seconds)),
    ("samples", True, lambda row: (_samples(row), row.samples)),
    ("verdict", False, lambda row: (" ".join(filter(None, [row.verdict, row.reason])), row.verdict)),
)


def _spread(row):
    """From the first to the third quartile, relative to the median."""
    return f"{100 * (row.high - row.low) / row.seconds:.1f} %" if row.has_time else "-"


def _samples(row):
    return f"{row.samples} ({row.disturbed} disturbed)" if row.disturbed else str(row.samples)


_CSV = ("machine_id", "threads", "cache_mode", "suite", "workload", "op", "T", "B", "I", "H", "dtype", "settings",
        "implementation", "version", "verdict", "reason", "seconds", "seconds_q1", "seconds_q3", "gflops", "gbps",
        "share_of_limit", "error_over_bound", "first_call_seconds", "samples", "disturbed")


def as_csv(rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV)
    for row in rows:
        case, setting = row.case, row.setting
        cells = [setting.machine_id, setting.threads, setting.cache_mode, row.suite, row.workload, case.op, case.T, case.B,
                 case.I, case.H, case.dtype, case.shown_settings, row.implementation, row.version, row.verdict, row.reason,
                 row.seconds, row.low, row.high, row.gflops, row.gbps, row.share_of_limit, row.error_over_bound,
                 row.first_call_seconds, row.samples, row.disturbed]
        writer.writerow(["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells])
    return out.getvalue()


def shape_table(family, subject):
    """Head and lines of shape x implementation: GFLOP/s (GB/s for the cell), and the subject against the best peer."""
    names = [subject, *dict.fromkeys(row.implementation for row in family.rows if row.implementation != subject)]
    by_bandwidth = family.op == "lstm_block_cell_grad"
    ratios = best_peer_ratios(family.rows, subject)
    lines = []
    for (setting, workload), of_shape in groups(family.rows, lambda row: (row.setting, row.workload)).items():
        by_name = {row.implementation: row for row in of_shape}
        cells = []
        for name in names:
            row = by_name.get(name)
            rate = float("nan") if row is None else row.gbps if by_bandwidth else row.gflops
            share = "" if row is None or math.isnan(row.share_of_limit) else f" ({percent_text(row.share_of_limit)})"
            cells.append(three_digits(rate) + share)
        ours = by_name.get(subject)
        error = three_digits(ours.error_over_bound) if ours else "-"
        time = seconds_text(ours.seconds) if ours else "-"
        lines.append([of_shape[0].case.label, time, *cells, ratio_text(ratios.get((setting, workload), float("nan"))), error])
    unit = "GB/s" if by_bandwidth else "GFLOP/s"
    head = ["shape", f"{subject} time", *(f"{name} {unit} (% of limit)" for name in names), "x best peer", "error / allowed"]
    return head, lines
