# SPDX-License-Identifier: Apache-2.0
"""backgauge history pages: index.html, and one page for each workload."""

import pathlib

from ... import errors
from ...quantities import counted
from ...report.themes import THEMES
from .. import store
from ..changes import Rule
from ..check import examined, found_in
from ..needs import library
from ..series import chosen
from ..text import day
from .trends import overview_row, shown_change, trend


def pages(options):
    entries = chosen(store.read(store.opened(options)), options)
    pairs = examined(entries, options.impl, Rule(options.min_effect, options.false_alarms))
    if not pairs:
        raise errors.CommandError("pages: the history has no times for these options")
    texts = rendered(pairs, options.days, options.title)
    out = pathlib.Path(options.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise errors.CommandError(f"--out={out}: {error.strerror or error}") from error
    print(f"{len(pairs)} series on {counted(len(texts), 'page')}: {out / 'index.html'}")
    return errors.GOOD


def rendered(pairs, days, title):
    """{file name: its text} of pairs (series, its Aligned)."""
    jinja2 = library("jinja2", "pages")
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader("backgauge.history.pages"), jinja2.PackageLoader("backgauge.report")]),
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.globals.update(colours=[theme.variables for theme in THEMES], title=title)
    changes = found_in(pairs, days)
    workloads = list(dict.fromkeys(series.key.workload for series, _ in pairs))
    files = {workload: f"workload-{k + 1}.html" for k, workload in enumerate(workloads)}
    of_series = {id(series): [change for change in changes if change.series is series] for series, _ in pairs}
    newest = max(point.entry.measured for series, _ in pairs for point in series.points)
    texts = {"index.html": environment.get_template("overview.html").render(
        newest=day(newest), days=days, runs=len({point.entry.file for series, _ in pairs for point in series.points}),
        lost=[(series, files[series.key.workload]) for series, _ in pairs if series.lost],
        changes=[(shown_change(change), files[change.series.key.workload]) for change in changes if change.is_new],
        rows=[overview_row(series, aligned, of_series[id(series)], files[series.key.workload]) for series, aligned in pairs])}
    template = environment.get_template("trend.html")
    for k, workload in enumerate(workloads):
        mine = [(series, aligned) for series, aligned in pairs if series.key.workload == workload]
        texts[files[workload]] = template.render(
            workload=workload, name=mine[0][0].key.case_text,
            before=files[workloads[k - 1]] if k else "", after=files[workloads[k + 1]] if k + 1 < len(workloads) else "",
            trends=[trend(series, aligned, of_series[id(series)]) for series, aligned in mine])
    return texts
