# SPDX-License-Identifier: Apache-2.0
"""A saved run of `backgauge bench`: RUN.json (Google Benchmark's schema) and RUN.samples.jsonl beside it.

A pair is one (workload, implementation). Without the samples file the repetitions in RUN.json stand for samples.
"""

import json
import pathlib
import re
from dataclasses import dataclass, field

import numpy as np

from .case_line import CaseLine, parse_case_line, workload_key
from .errors import CommandError

SAMPLES_SCHEMA = "backgauge.samples/1"
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Sample:
    round: int
    seconds: float  # per call
    fma_gflops: float  # yardstick of the same round; nan if there was none
    disturbed: bool


@dataclass
class Pair:
    workload: str  # the case line
    implementation: str
    suite: str = ""
    version: str = ""
    verdict: str = ""  # of the judge; empty if the file does not say
    reason: str = ""
    error_over_bound: float = float("nan")
    tensors: dict = field(default_factory=dict)  # tensor -> error / bound
    samples: list = field(default_factory=list)
    counters: dict = field(default_factory=dict)  # medians over repetitions

    @property
    def case(self) -> CaseLine:
        return parse_case_line(self.workload)

    @property
    def has_time(self):
        return bool(self.samples) and self.verdict in ("PASSED", "")

    def quiet_samples(self):
        """Samples nobody disturbed; all of them where fewer than half were quiet, for then quiet is no typical state."""
        quiet = [sample for sample in self.samples if not sample.disturbed]
        return quiet if 2 * len(quiet) >= len(self.samples) else self.samples


@dataclass
class Run:
    name: str
    context: dict
    pairs: dict = field(default_factory=dict)  # (workload key, implementation) -> Pair

    def number(self, key):
        """A number of the context, nan if it is not there."""
        try:
            return float(self.context[key])
        except (KeyError, TypeError, ValueError):
            return float("nan")

    @property
    def threads(self):
        threads = self.number("threads")
        return 1 if np.isnan(threads) else int(threads)

    @property
    def machine_id(self):
        return str(self.context.get("machine_id", ""))

    @property
    def implementations(self):
        """In the order of the file."""
        return list(dict.fromkeys(implementation for _, implementation in self.pairs))

    def pair(self, workload, implementation):
        key = (workload_key(workload), implementation)
        return self.pairs.setdefault(key, Pair(workload, implementation))


def read_run(path):
    """On input RUN.json, or RUN.samples.jsonl alone. Raises CommandError where it is no run."""
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
            _read_report(run, json.loads(report.read_text()))
        if samples.exists():
            _read_samples(run, samples)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{path}: not a run of backgauge bench: {error!r}") from error
    if not run.pairs:
        raise CommandError(f"{path}: no benchmark in it")
    return run


def _read_report(run, report):
    run.context.update(report["context"])
    repetitions = {}
    for entry in report["benchmarks"]:
        if entry.get("run_type", "iteration") != "iteration":
            continue
        pair = run.pair(entry["label"], entry["name"].split("/")[0])
        pair.suite = pair.suite or _suite_of(entry["name"])
        # As perf/measure keeps them: without samples beside.
        pair.version, pair.verdict = entry.get("version", ""), entry.get("verdict", "")
        if entry.get("error_occurred"):
            pair.verdict, pair.reason = _said_of(entry.get("error_message", ""))
            continue
        seconds = entry["real_time"] * _SECONDS[entry["time_unit"]]
        repetitions.setdefault(id(pair), (pair, []))[1].append((seconds, entry))
    for pair, entries in repetitions.values():
        pair.samples = [Sample(k, seconds, float("nan"), False) for k, (seconds, _) in enumerate(entries)]
        pair.counters = _counters(entries)
        pair.error_over_bound = pair.counters.get("error_over_bound", float("nan"))


def _said_of(message):
    """bench writes "FAILED: why"; other programs whatever they like."""
    verdict, _, reason = message.partition(": ")
    return (verdict, reason) if re.fullmatch("[A-Z]+", verdict) else ("SKIPPED", message)


def _suite_of(name):
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else ""


def _counters(entries):
    """Medians over repetitions. Rates become amounts per call first, so that they hold for the median of the samples."""
    counters = {}
    for key in ("GFLOP/s", "GB/s"):
        amounts = [entry[key] * seconds for seconds, entry in entries if key in entry]
        if amounts:
            counters[key.removesuffix("/s")] = float(np.median(amounts))
    for key in ("share_of_limit", "error_over_bound", "first_call_ms"):
        values = [entry[key] for _, entry in entries if key in entry]
        if values:
            counters[key] = float(np.median(values))
    seconds = float(np.median([seconds for seconds, _ in entries]))
    if "share_of_limit" in counters:
        counters["seconds_at_limit"] = counters["share_of_limit"] * seconds
    return counters


def _read_samples(run, path):
    lines = path.read_text().splitlines()
    head = json.loads(lines[0])
    if head.get("schema") != SAMPLES_SCHEMA:
        raise ValueError(f"schema {head.get('schema')!r}, expected {SAMPLES_SCHEMA!r}")
    run.context = {**head.get("context", {}), **run.context}
    fresh = set()
    for line in lines[1:]:
        if not line.strip():
            continue
        entry = json.loads(line)
        pair = run.pair(entry["workload"], entry["implementation"])
        pair.suite = entry.get("suite") or pair.suite
        pair.version = entry.get("version") or pair.version
        if "seconds" in entry:
            if id(pair) not in fresh:
                fresh.add(id(pair))
                pair.samples = []
            pair.samples.append(_sample(entry))
        if "verdict" in entry:
            pair.verdict = entry["verdict"]
            pair.reason = entry.get("reason", "")
            pair.tensors = entry.get("tensors", {})
            ratio = entry.get("error_over_bound")
            pair.error_over_bound = float("nan") if ratio is None else float(ratio)


def _sample(entry):
    seconds = float(entry["seconds"])
    if not seconds > 0:
        raise ValueError(f"a sample of {seconds} s")
    yardstick = entry.get("fma_gflops")
    yardstick = float("nan") if not yardstick else float(yardstick)
    return Sample(int(entry["round"]), seconds, yardstick, bool(entry.get("disturbed", False)))
