# SPDX-License-Identifier: Apache-2.0
"""The times of one run in the formats that other services read: Bencher, and the GitHub action github-action-benchmark."""

import json

import numpy as np

from .. import errors
from ..errors import CommandError
from . import store
from .series import chosen, series_of

_NANOSECONDS = 1e9


def export(options):
    """Prints the last run that the options choose, or the last one of --commit."""
    entries = [entry for entry in chosen(store.read(store.opened(options)), options)
               if options.commit is None or entry.commit.id.startswith(options.commit)]
    if not entries:
        raise CommandError("export: the history has no run for these options")
    found = {}
    for series in series_of(entries[-1:], options.impl):
        for point in series.points:
            low, middle, high = (float(f"{_NANOSECONDS * value:.9g}") for value in np.percentile(point.times(series.clock), [25, 50, 75]))
            found[f"{series.key.implementation}: {series.key.workload}"] = (low, middle, high, series, point)
    if not found:
        raise CommandError(f"export: the run of commit {entries[-1].commit.short} has no times for these options")
    print(json.dumps(_FORMATS[options.format](found), indent=1))
    return errors.GOOD


def bencher(found):
    """Bencher Metric Format: latency in ns, the median of the rounds and their quartiles. `bencher run --adapter=json`."""
    return {name: {"latency": {"value": middle, "lower_value": low, "upper_value": high}}
            for name, (low, middle, high, *_) in found.items()}


def github_action_benchmark(found):
    """For the action's `tool: customSmallerIsBetter`. Its range is half the distance of the quartiles."""
    return [{"name": name, "unit": "ns", "value": middle, "range": f"± {(high - low) / 2:.4g}",
             "extra": f"{series.key.setting_text}; {series.clock}, {len(point.timing.seconds)} rounds, {point.disturbed} disturbed"}
            for name, (low, middle, high, series, point) in found.items()]


_FORMATS = {"bencher": bencher, "github-action-benchmark": github_action_benchmark}
