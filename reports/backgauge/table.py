# SPDX-License-Identifier: Apache-2.0
"""All runs as one table: a row is one (setting, workload, implementation)."""

from dataclasses import dataclass

import numpy as np

from .case_line import CaseLine
from .quantities import counted
from .run import UNJUDGED, Pair, Run, device_of, terms_in

LEAST_NOISE = 0.02  # the same code differs by this much between two processes: kLeastNoise in perf/results/results.h


@dataclass(frozen=True)
class Setting:
    """The properties that all times in one chart share."""

    machine_id: str
    cpu_model: str
    threads: int
    cache_mode: str
    device: str = ""  # the name of the device, of times in its memory

    @property
    def text(self):
        if self.device:
            return ", ".join(filter(None, [self.device, self.cache_mode and f"{self.cache_mode} caches"]))
        return ", ".join(filter(None, [self.cpu_model, counted(self.threads, "thread"), self.cache_mode and f"{self.cache_mode} caches"]))


@dataclass(frozen=True)
class Row:
    setting: Setting
    run: str
    suite: str
    workload: str
    case: CaseLine
    implementation: str
    version: str
    verdict: str
    reason: str
    error_over_bound: float
    tensors: dict
    samples: int
    disturbed: int
    seconds: float  # median of the undisturbed samples, or of all if most are disturbed; nan: not timed
    low: float  # first quartile; nan: unknown, as of a single sample
    high: float  # third quartile
    gflops: float  # nan if the run has no such counter
    gbps: float
    share_of_limit: float
    first_call_seconds: float
    noise: float  # of the run, nan if it does not say
    above_limit: str  # why it is faster than its limit; "" if it is not, or the run does not say
    terms: str  # what the implementation claims about the op; "" if the run does not say

    @property
    def has_time(self):
        return not np.isnan(self.seconds)

    @property
    def is_comparable(self):
        return self.has_time and self.verdict != UNJUDGED

    @property
    def is_quiet(self):
        """Whether at least half of its samples were undisturbed."""
        return 2 * self.disturbed <= self.samples

    @property
    def uncertainty(self):
        """The relative uncertainty of the median: its standard error from the quartiles, or the A/A noise of the run if that is larger.

        The quartiles of a normal distribution are 1.349 standard deviations apart, and the median of n samples has
        sqrt(pi / 2) standard errors of the mean: 0.93 * (q3 - q1) / sqrt(n)."""
        own = 0.93 * (self.high - self.low) / self.seconds / np.sqrt(max(self.samples - self.disturbed, 1) if self.is_quiet else self.samples)
        return float(np.nanmax([own, self.noise, 0.0]))

    @property
    def is_beyond_belief(self):
        """Faster than the limit that the run measured. Noise of the run does not excuse it, since the limit may be wrong."""
        return self.share_of_limit > 1 + LEAST_NOISE


@dataclass(frozen=True)
class Table:
    rows: list[Row]
    contexts: dict[Setting, Run]  # the run whose limits and texts apply to a setting

    def number(self, setting, key):
        return self.contexts[setting].number(key)


def table_of(runs: list[Run]) -> Table:
    """If several runs timed a workload in the same setting, the last one counts, and judged results before unjudged ones."""
    rows, contexts = {}, {}
    for run in runs:
        if not run.pairs:
            contexts[_setting(run, False)] = run
        for key, pair in run.pairs.items():
            setting = _setting(run, pair.on_device)
            contexts[setting] = run
            earlier = rows.get((setting, *key))
            if not (pair.unjudged and earlier and earlier.is_comparable):
                rows[(setting, *key)] = _row(setting, run, pair)
    return Table(list(rows.values()), contexts)


def _setting(run, on_device):
    return Setting(run.machine_id, str(run.context.get("cpu_model", "")), run.threads, str(run.context.get("cache_mode", "")),
                   (device_of(run) or "a device") if on_device else "")


def _row(setting: Setting, run: Run, pair: Pair) -> Row:
    seconds = [sample.seconds for sample in pair.quiet_samples()] if pair.has_time or pair.unjudged else []
    low, median, high = map(float, np.percentile(seconds, [25, 50, 75])) if seconds else [float("nan")] * 3
    samples, disturbed = len(pair.samples), sum(sample.disturbed for sample in pair.samples)
    if pair.kept and seconds:
        low, high, samples, disturbed = pair.kept.low, pair.kept.high, pair.kept.samples, pair.kept.disturbed
    elif samples < 2:
        low = high = float("nan")

    def rate(amount):
        return pair.counters.get(amount, float("nan")) / median

    return Row(setting, run.name, pair.suite, pair.workload, pair.case, pair.implementation, pair.version, pair.verdict,
               pair.reason, pair.error_over_bound, pair.tensors, samples, disturbed, median, low, high, rate("GFLOP"), rate("GB"),
               rate("seconds_at_limit"), pair.counters.get("first_call_ms", float("nan")) / 1e3, run.number("noise_aa"), pair.above_limit,
               terms_in(run.context, pair.implementation, pair.case.op))


def groups(rows, key):
    """Rows by `key(row)`, in order of first appearance."""
    found = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def implementations_of(rows):
    return list(dict.fromkeys(row.implementation for row in rows))


def cases_of(rows):
    """{workload: case}, sorted by op, settings and size."""
    found = {row.workload: row.case for row in rows}

    def size(item):
        case = item[1]
        return (case.op, case.dtype, case.shown_settings, case.H, case.I, case.B, case.T)

    return dict(sorted(found.items(), key=size))
