# SPDX-License-Identifier: Apache-2.0
"""The table of all runs as cells, for the sortable table of the page, the summary and table.csv."""

import csv
import io
import math

from ..quantities import percent_text, ratio_text, seconds_text, three_digits
from ..run import UNJUDGED
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


# (heading, is a number, cell of a row as (text, sort key)); the workload is printed above its rows.
COLUMNS = (
    ("implementation", False, lambda row: (row.implementation, row.implementation)),
    ("threads", True, lambda row: (str(row.setting.threads), row.setting.threads)),
    ("time", True, lambda row: (time_text(row), row.seconds)),
    ("spread", True, lambda row: (_spread(row), (row.high - row.low) / row.seconds)),
    ("GFLOP/s", True, lambda row: (three_digits(row.gflops, row.uncertainty), row.gflops)),
    ("GB/s", True, lambda row: (three_digits(row.gbps, row.uncertainty), row.gbps)),
    ("% of limit", True, lambda row: (share_text(row), row.share_of_limit)),
    ("error / allowed", True, lambda row: (three_digits(row.error_over_bound), row.error_over_bound)),
    ("first call", True, lambda row: (seconds_text(row.first_call_seconds, row.uncertainty), row.first_call_seconds)),
    ("samples", True, lambda row: (_samples(row), row.samples)),
    ("verdict", False, lambda row: (verdict_text(row), row.verdict)),
)


def time_text(row):
    """With † if it is the median of disturbed samples too."""
    return seconds_text(row.seconds, row.uncertainty) + ("" if row.is_quiet or not row.has_time else " †")


def share_text(row):
    """With ‡ if it is more than the limit that was measured; it is not rounded to 100 % then."""
    if row.is_beyond_belief:
        return f"{percent_text(row.share_of_limit)} ‡"
    return percent_text(row.share_of_limit, row.uncertainty)


def verdict_text(row):
    """"PASSED, not timed" is what bench leaves when its time was over."""
    reason = row.reason or ("" if row.has_time or row.verdict not in ("PASSED", UNJUDGED) else "no time was left to time it")
    return ": ".join(filter(None, [row.verdict, reason]))


def _spread(row):
    """From the first to the third quartile, relative to the median."""
    share = (row.high - row.low) / row.seconds
    return "-" if math.isnan(share) else f"{100 * share:.{0 if share >= 0.1 else 1}f} %"


def _samples(row):
    return f"{row.samples} ({row.disturbed} disturbed)" if row.disturbed else str(row.samples)


_CSV = ("machine_id", "threads", "cache_mode", "suite", "workload", "op", "T", "B", "I", "H", "dtype", "settings",
        "implementation", "version", "verdict", "reason", "seconds", "seconds_q1", "seconds_q3", "gflops", "gbps",
        "share_of_limit", "error_over_bound", "first_call_seconds", "samples", "disturbed", "terms")


def as_csv(rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV)
    for row in rows:
        case, setting = row.case, row.setting
        cells = [setting.machine_id, setting.threads, setting.cache_mode, row.suite, row.workload, case.op, case.T, case.B,
                 case.I, case.H, case.dtype, case.shown_settings, row.implementation, row.version, row.verdict, row.reason,
                 row.seconds, row.low, row.high, row.gflops, row.gbps, row.share_of_limit, row.error_over_bound,
                 row.first_call_seconds, row.samples, row.disturbed, row.terms]
        writer.writerow([_harmless(cell) for cell in cells])
    return out.getvalue()


def _harmless(cell):
    """Spreadsheets compute text that begins like a formula, and what does so here an implementation may have written. They take a quote
    before it as a sign of text. Numbers stay numbers."""
    if isinstance(cell, str):
        return f"'{cell}" if cell.lstrip().startswith(("=", "+", "-", "@")) else cell
    return "" if isinstance(cell, float) and math.isnan(cell) else cell


def shape_table(family, subject):
    """Head and lines of shape x implementation: GFLOP/s (GB/s for the cell), and the subject against the best peer."""
    names = [subject, *dict.fromkeys(row.implementation for row in family.rows if row.implementation != subject)]
    by_bandwidth = family.is_memory_bound
    ratios = best_peer_ratios(family.rows, subject)
    lines = []
    for (setting, workload), of_shape in groups(family.rows, lambda row: (row.setting, row.workload)).items():
        by_name = {row.implementation: row for row in of_shape}
        cells = []
        for name in names:
            row = by_name.get(name)
            if row is None:
                cells.append("-")
                continue
            rate = row.gbps if by_bandwidth else row.gflops
            share = "" if math.isnan(row.share_of_limit) else f" ({share_text(row)})"
            cells.append(three_digits(rate, row.uncertainty) + share)
        ours = by_name.get(subject)
        error = three_digits(ours.error_over_bound) if ours else "-"
        time = time_text(ours) if ours else "-"
        noise = max(row.uncertainty for row in of_shape)
        lines.append([of_shape[0].case.label, time, *cells, ratio_text(ratios.get((setting, workload), float("nan")), noise), error])
    unit = "GB/s" if by_bandwidth else "GFLOP/s"
    head = ["shape", f"{subject} time", *(f"{name} {unit} (% of limit)" for name in names), "x best peer", "error / allowed"]
    return head, lines
