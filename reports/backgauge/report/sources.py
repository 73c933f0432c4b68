# SPDX-License-Identifier: Apache-2.0
"""Reads the files and folders that the user named: runs of bench and records of verify."""

import pathlib

from ..errors import CommandError
from ..reading import explained, parse_object, read_text
from ..records import ratios_of_rows, read_tensor_ratios, records_file
from ..run import read_run
from ..table import table_of
from ..verification import read_verified_run
from .charts.chart import Material


def read_material(paths, subject):
    """Raises CommandError if a path is neither a run nor records, or if no run has `subject`."""
    runs, ratios, verified = [], [], []
    for path in map(pathlib.Path, paths):
        if not path.exists():
            raise CommandError(f"{path}: no such file or folder")
        records = records_file(path)
        found = _run_files(path) if path.is_dir() else [path]
        if records:
            ratios += read_tensor_ratios(records)
            verified += filter(None, [read_verified_run(records.parent)])
        elif not found:
            raise CommandError(f"{path}: contains neither runs of bench nor records of verify")
        if path.is_dir() or not records:
            runs += [read_run(file) for file in found]
    table = table_of(runs)
    return Material(table, _subject(table, ratios, subject), [*ratios_of_rows(table.rows), *ratios], verified, runs)


def _run_files(folder):
    """The folder's JSON files with Google Benchmark's schema, which run.json of verify does not have."""
    return [path for path in sorted(folder.glob("*.json")) if _is_run(path)]


def _is_run(path):
    try:
        return "benchmarks" in parse_object(read_text(path))
    except ValueError as error:
        raise CommandError(f"{path}: not a run of backgauge bench: {explained(error)}") from error


def _subject(table, ratios, wanted):
    names = list(dict.fromkeys([*(row.implementation for row in table.rows), *(r.implementation for r in ratios)]))
    if wanted and wanted not in names:
        raise CommandError(f"--impl={wanted}: not in the runs, which have {', '.join(names)}")
    if not names:
        raise CommandError("the runs are empty")
    return wanted or names[0]
