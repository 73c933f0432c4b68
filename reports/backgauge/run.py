# SPDX-License-Identifier: Apache-2.0
"""A saved run of `backgauge bench`: RUN.json (Google Benchmark's schema) and RUN.samples.jsonl next to it.

A pair is one (workload, implementation). Without the samples file, the repetitions in RUN.json are used as samples.
"""

import datetime
import math
import pathlib
import re
from dataclasses import dataclass, field

import numpy as np

from .case_line import CaseLine, parse_case_line, workload_key
from .errors import CommandError
from .quantities import UNITS
from .reading import amount, explained, number, parse_object, positive, read_text, table, words

SAMPLES_SCHEMA = "backgauge.samples/1"
UNJUDGED = "UNJUDGED"  # timed by bench --unjudged: nothing is known of its results


@dataclass(frozen=True)
class Sample:
    round: int
    seconds: float  # per call
    fma_gflops: float  # multiply-add loop in the same round; nan if it was not run
    disturbed: bool
    cpu_seconds: float = float("nan")  # CPU time per call; nan if the run does not say
    calls: int = 0  # 0 if the run does not say
    waits: int = -1  # how often the calling thread gave up its CPU by itself during all calls; -1 if the run does not say
    block: int = 0  # samples of different blocks come from different processes


@dataclass(frozen=True)
class Kept:
    """What a file says of samples that it does not have (perf/measure keeps the median repetition alone)."""

    samples: int
    disturbed: int
    low: float  # quartiles, seconds
    high: float


@dataclass
class Pair:
    workload: str  # the case line
    implementation: str
    suite: str = ""
    version: str = ""
    verdict: str = ""  # of the judge; empty if the file has none
    reason: str = ""
    error_over_bound: float = float("nan")
    tensors: dict = field(default_factory=dict)  # tensor -> error / bound
    samples: list = field(default_factory=list)
    counters: dict = field(default_factory=dict)  # medians over repetitions
    on_device: bool = False  # timed in the memory of the device of the run, so that limits of the CPU say nothing about it
    above_limit: str = ""  # why it is faster than the limit that its share is of; empty if it is not
    kept: Kept | None = None

    @property
    def case(self) -> CaseLine:
        return parse_case_line(self.workload)

    @property
    def has_time(self):
        """Whether it has a time that may be compared."""
        return bool(self.samples) and self.verdict in ("PASSED", "")

    @property
    def unjudged(self):
        """Whether it has a time that is shown, but not compared with any other."""
        return bool(self.samples) and self.verdict == UNJUDGED

    def quiet_samples(self):
        """Undisturbed samples; all of them if most are disturbed, because then undisturbed ones are not typical."""
        quiet = [sample for sample in self.samples if not sample.disturbed]
        return quiet if 2 * len(quiet) >= len(self.samples) else self.samples


@dataclass
class Run:
    name: str
    context: dict
    pairs: dict = field(default_factory=dict)  # (workload key, implementation) -> Pair

    def number(self, key):
        """A number of the context, nan if it is missing."""
        try:
            return float(self.context[key])
        except (KeyError, TypeError, ValueError, OverflowError):
            return float("nan")

    @property
    def threads(self):
        threads = self.number("threads")
        return int(threads) if np.isfinite(threads) else 1

    @property
    def machine_id(self):
        return str(self.context.get("machine_id", ""))

    @property
    def date(self):
        """When it was measured, with a time zone; None if the run does not say."""
        try:
            date = datetime.datetime.fromisoformat(str(self.context["date"]))
        except (KeyError, ValueError):
            return None
        return date if date.tzinfo else date.replace(tzinfo=datetime.UTC)

    @property
    def sample_counts(self):
        """(samples, disturbed ones)."""
        each = [(pair.kept.samples, pair.kept.disturbed) if pair.kept else
                (len(pair.samples), sum(sample.disturbed for sample in pair.samples)) for pair in self.pairs.values()]
        return sum(samples for samples, _ in each), sum(disturbed for _, disturbed in each)

    @property
    def implementations(self):
        """In the order of the file."""
        return list(dict.fromkeys(implementation for _, implementation in self.pairs))

    def pair(self, workload, implementation):
        key = (workload_key(workload), implementation)
        return self.pairs.setdefault(key, Pair(workload, implementation))


def device_of(run):
    """The name of the device in whose memory something was timed; "" if nothing was."""
    return str(run.context.get("device_name", ""))


def terms_in(context, implementation, op):
    """What the implementation claims about the op, and so what its verdicts are about; "" if the run does not say."""
    return str(context.get(f"terms/{implementation}/{op}", ""))


def read_run(path):
    """On input RUN.json, or RUN.samples.jsonl alone. Raises CommandError if it is not a run."""
    path = pathlib.Path(path)
    if path.name.endswith(".samples.jsonl"):
        report, samples = path.with_name(path.name.removesuffix(".samples.jsonl") + ".json"), path
    else:
        report, samples = path, path.with_name(path.name.removesuffix(".json") + ".samples.jsonl")
    if not report.exists() and not samples.exists():
        raise CommandError(f"{path}: no such run")
    run = Run(report.name.removesuffix(".json"), {})
    try:
        if report.exists():
            _read_report(run, parse_object(read_text(report)))
        if samples.exists():
            _read_samples(run, read_text(samples).splitlines())
    except (ValueError, KeyError) as error:
        raise CommandError(f"{path}: not a run of backgauge bench: {explained(error)}") from error
    if not run.pairs:
        raise CommandError(f"{path}: contains no benchmarks")
    return run


def _read_report(run, report):
    run.context.update(table(report, "context"))
    repetitions = {}
    for entry in _objects(report, "benchmarks"):
        if entry.get("run_type", "iteration") != "iteration":
            continue
        name = words(entry, "name")
        pair = run.pair(_line_of(entry, "label"), name.split("/")[0])
        pair.suite = pair.suite or _suite_of(name)
        # As perf/measure keeps them: without a file of samples.
        pair.version, pair.verdict = words(entry, "version", ""), words(entry, "verdict", "")
        if entry.get("error_occurred"):
            pair.verdict, pair.reason = _said_of(words(entry, "error_message", ""))
            continue
        # Without a file of samples the counters have what became of the results.
        for counter in ("unjudged", "mistrusted"):
            pair.verdict = counter.upper() if counter in entry else pair.verdict
        seconds = positive(entry, "real_time") * _unit_of(entry)
        if "quartiles" in entry:
            pair.kept = _kept(entry)
        repetitions.setdefault(id(pair), (pair, []))[1].append((seconds, entry))
    for pair, entries in repetitions.values():
        pair.samples = [Sample(k, seconds, float("nan"), False, _cpu_seconds(entry)) for k, (seconds, entry) in enumerate(entries)]
        pair.counters = _counters(entries)
        pair.error_over_bound = pair.counters.get("error_over_bound", float("nan"))


def _kept(entry):
    ends = entry["quartiles"]
    if not isinstance(ends, list) or len(ends) != 2:
        raise ValueError("quartiles: expected two numbers")
    low, high = (positive({"quartiles": end}, "quartiles") * _unit_of(entry) for end in ends)
    samples, disturbed = (amount(entry, key) for key in ("samples", "disturbed"))
    if low > high or not (samples.is_integer() and disturbed.is_integer() and disturbed <= samples):
        raise ValueError("quartiles, samples, disturbed: expected ascending quartiles, and no more disturbed samples than samples")
    return Kept(int(samples), int(disturbed), low, high)


def _cpu_seconds(entry):
    return amount({"cpu_time": None} | entry, "cpu_time") * _unit_of(entry)


def _objects(report, key):
    entries = report[key]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{key}: expected a list of JSON objects")
    return entries


def _line_of(entry, key):
    line = words(entry, key)
    parse_case_line(line)  # parsed here, where the name of the file is known
    return line


def _unit_of(entry):
    unit = words(entry, "time_unit")
    if unit not in UNITS:
        raise ValueError(f"time_unit: expected one of {', '.join(reversed(UNITS))}, got {unit}")
    return UNITS[unit]


def _said_of(message):
    """bench writes "FAILED: reason"; other programs may write anything."""
    verdict, _, reason = message.partition(": ")
    return (verdict, reason) if re.fullmatch("[A-Z]+", verdict) else ("SKIPPED", message)


def _suite_of(name):
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else ""


def _counters(entries):
    """Medians over repetitions. Rates become amounts per call first, so that they hold for the median of the samples."""
    counters = {}
    for key in ("GFLOP/s", "GB/s"):
        amounts = [amount(entry, key) * seconds for seconds, entry in entries if key in entry]
        if amounts:
            counters[key.removesuffix("/s")] = float(np.median(amounts))
    for key in ("share_of_limit", "error_over_bound", "first_call_ms"):
        values = [amount(entry, key) for _, entry in entries if key in entry]
        if values:
            counters[key] = float(np.median(values))
    seconds = float(np.median([seconds for seconds, _ in entries]))
    if "share_of_limit" in counters:
        counters["seconds_at_limit"] = counters["share_of_limit"] * seconds
    return counters


def _read_samples(run, lines):
    head = parse_object(lines[0] if lines else "")
    if head.get("schema") != SAMPLES_SCHEMA:
        raise ValueError(f"schema {head.get('schema')!r}, expected {SAMPLES_SCHEMA!r}")
    run.context = {**table(head, "context", {}), **run.context}
    fresh, cpu_seconds = set(), {}
    for line in lines[1:]:
        if not line.strip():
            continue
        entry = parse_object(line)
        pair = run.pair(_line_of(entry, "workload"), words(entry, "implementation"))
        pair.suite = words(entry, "suite", "") or pair.suite
        pair.version = words(entry, "version", "") or pair.version
        if "seconds" in entry:
            if id(pair) not in fresh:
                fresh.add(id(pair))
                # Before samples had CPU times, only RUN.json had them, for the same rounds in the same order.
                cpu_seconds[id(pair)] = iter([sample.cpu_seconds for sample in pair.samples])
                pair.samples, pair.kept = [], None
            pair.samples.append(_sample(entry, next(cpu_seconds[id(pair)], float("nan"))))
        if "verdict" in entry:
            pair.verdict = words(entry, "verdict")
            pair.reason = words(entry, "reason", "")
            pair.on_device = bool(entry.get("on_device", pair.on_device))
            pair.above_limit = words(entry, "above_limit", "")
            tensors = table(entry, "tensors", {})
            pair.tensors = {tensor: amount(tensors, tensor) for tensor in tensors}
            pair.error_over_bound = amount({"error_over_bound": None} | entry, "error_over_bound")


def _sample(entry, cpu_seconds):
    yardstick = amount({"fma_gflops": None} | entry, "fma_gflops") or float("nan")
    turn = number(entry, "round")
    if not turn.is_integer():
        raise ValueError(f"round: expected a whole number, got {turn}")
    own = amount({"cpu_seconds": None} | entry, "cpu_seconds")
    return Sample(int(turn), positive(entry, "seconds"), yardstick, bool(entry.get("disturbed", False)),
                  cpu_seconds if math.isnan(own) else own, _count(entry, "calls", 0), _count(entry, "waits", -1),
                  _count(entry, "block", 0))


def _count(entry, key, unknown):
    value = number({key: unknown} | entry, key)
    return int(value) if math.isfinite(value) else unknown
