# SPDX-License-Identifier: Apache-2.0
"""backgauge history: remembers runs and says what changed."""

import datetime

import numpy as np

from .. import errors
from ..errors import CommandError
from ..quantities import counted
from ..run import read_run
from . import options as command_line
from . import store, text
from .check import check
from .commits import commit_of
from .entry import entry_of
from .machine import class_of
from .needs import library
from .pages.command import pages
from .series import chosen, series_of


def main(arguments):
    options = command_line.parse(arguments)
    return _COMMANDS[options.command](options)


def add(options):
    commit = commit_of(options)
    runs = [read_run(path) for path in options.runs]
    for run in runs:
        if "debug" in str(run.context.get("build_type", "")).lower():
            raise CommandError(f"{run.name}: times of a Debug build are meaningless")
    now, history = datetime.datetime.now(datetime.UTC), store.opened(options)
    for run in runs:
        try:
            entry = entry_of(run, commit, options.branch, now)
        except ValueError as error:
            raise CommandError(f"{run.name}: date: {error}") from error
        path, is_new = store.add(history, entry)
        print(path if is_new else f"{path}: was there already")
    return errors.GOOD


def list_runs(options):
    entries = chosen(store.read(store.opened(options)), options)
    if options.impl:
        entries = [entry for entry in entries if any(timing.implementation == options.impl for timing in entry.timings)]
    head = ["commit", "made", "measured", "branch", "machine", "machine id", "implementations", "workloads", "not timed", "disturbed"]
    lines = [_run_line(entry) for entry in entries]
    print(text.render(head, lines, range(7, 10), options.format))
    if options.format == "text":
        commits = len({entry.commit.id for entry in entries})
        print(f"\n{counted(len(entries), 'run')} of {counted(commits, 'commit')}")
    return errors.GOOD


def _run_line(entry):
    samples = sum(len(timing.seconds) for timing in entry.timings)
    disturbed = sum(sum(timing.disturbed) for timing in entry.timings)
    return [entry.commit.short, text.day(entry.commit.time), text.day(entry.measured), entry.branch, class_of(entry.context).text,
            str(entry.context.get("machine_id", ""))[:8], ", ".join(dict.fromkeys(t.implementation for t in entry.timings)),
            str(len({timing.workload for timing in entry.timings})),
            str(sum(not timing.has_time for timing in entry.timings)),
            f"{100 * disturbed / samples:.0f} %" if samples else "-"]


def show(options):
    words = options.workload.lower().split()
    found = [series for series in series_of(chosen(store.read(store.opened(options)), options), options.impl)
             if all(word in f"{series.key.workload} {series.key.case_text}".lower() for word in words)]
    if not found:
        raise CommandError(f"{options.workload}: the history has no such workload for these options; "
                           "a case line, or words that it contains, were expected")
    head = ["commit", "made", "machine id", "time", "quartiles", "rounds", "disturbed", "version"]
    parts = []
    for series in found:
        lines = [_point_line(point, series.clock) for point in series.points]
        lines += [[point.entry.commit.short, text.day(point.entry.commit.time), point.machine_id[:8], "-", "-", "0", "0",
                   f"{point.timing.verdict} {point.timing.reason}".strip()] for point in series.failures]
        heading = f"{series.key.implementation}: {series.key.workload}\n{series.key.setting_text}; {series.clock}, medians of rounds"
        parts.append((heading, text.render(head, lines, range(3, 7), options.format)))
    if options.format == "json":
        print("[" + ",\n".join(table for _, table in parts) + "]")
    else:
        print("\n\n".join(f"{heading}\n\n{table}" for heading, table in parts))
    return errors.GOOD


def _point_line(point, clock):
    times = point.times(clock)
    low, middle, high = np.percentile(times, [25, 50, 75])
    # The error of a median of n normal values is 1.25 standard deviations / sqrt(n), and the quartiles are 1.35 apart.
    error = 1.25 * (high - low) / 1.35 / np.sqrt(len(times))
    return [point.entry.commit.short, text.day(point.entry.commit.time), point.machine_id[:8],
            text.rounded_seconds(middle, error), f"{100 * (low / middle - 1):+.1f} .. {100 * (high / middle - 1):+.1f} %",
            str(len(times)), str(point.disturbed), point.timing.version]


def copy(options):
    source, target = store.at(options.source, "FROM"), store.at(options.target, "TO")
    count, new = store.copy(source, target)
    print(f"{counted(count, 'run')}, {new} of them new in {target.where.removeprefix('TO=')}")
    return errors.GOOD


def bisect(options):
    library("scipy", "bisect")
    from .bisect.command import bisect as run
    return run(options)


_COMMANDS = {"add": add, "list": list_runs, "show": show, "check": check, "bisect": bisect, "pages": pages, "copy": copy}


if __name__ == "__main__":
    errors.run_command(main)
