# SPDX-License-Identifier: Apache-2.0
"""Measures how often `history check` is right, on synthetic years whose noise was measured.

    python3 -m backgauge.history.proof RECORDED.json [--years=5] [--seed=1]

Simulated: the years, their steps, the drift, the second machine and the two modes. Measured: the noise. A synthetic run is one recorded
run of the same code, drawn in stretches of successive runs, with its rounds drawn again with replacement. Every day each
engine sees the series up to that day. A step is found in time if it is reported when three runs of the new level exist: within
three runs of its place, or with a range of commits that holds it. Every other reported place is a false change, once,
however many days it is reported; so is a drift in a series that has none. proof_slopes.py measures what is found of drifts.
"""

import argparse
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .. import errors
from ..reading import parse_object, read_text
from . import text
from .align import PROBE, TIME, align
from .changes import MACHINE, SHORTEST, STEP, Rule, proposals

DAYS, WORKLOADS = 365, 40
MONTHS = WORKLOADS * 12  # series-months in a year
STEPS = (0.02, 0.05, 0.10)
EACH = 8  # series with a step of each size; one drifts, one has two modes, the rest are as they are
CLOCKS = {"cpu": "cpu_seconds", "wall": "seconds"}
NEAR = 3  # runs between a step and a reported change that count as the same
QUIET_DAYS = 60  # before a step and after it: the tables are about steps, not about series that have just begun
STRETCH = 5  # successive recorded runs that are kept together on average
DRIFT, MODES = 0.06, 0.06  # over the year; between the two modes
SECOND_MODE = 0.3  # share of the runs


@dataclass(frozen=True)
class Year:
    """What one series was made of, and its values: logarithms of seconds."""

    values: np.ndarray
    machines: list
    rates: np.ndarray
    steps: dict = field(default_factory=dict)  # first run of the new level -> size
    kind: str = "steady"


@dataclass(frozen=True)
class Noise:
    """Logarithms, runs x rounds, about the median of all."""

    times: np.ndarray
    probes: np.ndarray


def noise_of(recorded, clock):
    """{name: Noise} of each contestant on each workload."""
    def logs(rows):
        found = np.log(np.array(rows, dtype=float))
        return found - np.median(found)

    return {f"{workload} #{k}": Noise(logs(runs[clock]), logs(runs["fma_gflops"]))
            for workload, contestants in recorded["workloads"].items() for k, runs in enumerate(contestants)}


def nights(noise, random):
    """DAYS runs: (times, probes) as align.measured() takes them from their rounds."""
    runs, rounds = noise.times.shape
    days = []
    while len(days) < DAYS:
        start, length = random.integers(runs), random.geometric(1 / STRETCH)
        days += [(start + k) % runs for k in range(length)]
    drawn = np.array(days[:DAYS])[:, None], random.integers(rounds, size=(DAYS, rounds))
    return np.percentile(noise.times[drawn], TIME, axis=1), np.percentile(noise.probes[drawn], PROBE, axis=1)


def year(noises, random):
    """The series of one year. The machine changes once for all of them."""
    names = sorted(noises)
    switch = random.integers(QUIET_DAYS, DAYS - QUIET_DAYS)
    machines = ["old"] * switch + ["new"] * (DAYS - switch)
    speed = random.uniform(0.8, 1.25)
    by_machine = np.log(np.where(np.arange(DAYS) < switch, 1.0, speed))
    sizes = [size for size in STEPS for _ in range(EACH)]
    made = []
    for k in range(WORKLOADS):
        values, rates = nights(noises[names[random.integers(len(names))]], random)
        steps, kind = {}, "steady"
        if k < len(sizes):
            # Not where the machine changes: the two changes could not be distinguished.
            day = random.choice([d for d in range(QUIET_DAYS, DAYS - QUIET_DAYS) if abs(d - switch) > 2 * SHORTEST])
            steps, kind = {int(day): sizes[k]}, f"{100 * sizes[k]:g} %"
            values[day:] += random.choice([-1, 1]) * np.log1p(sizes[k])
        elif k == len(sizes):
            values, kind = values + np.linspace(0, np.log1p(DRIFT), DAYS), "drift"
        elif k == len(sizes) + 1:
            values, kind = values + np.log1p(MODES) * (random.random(DAYS) < SECOND_MODE), "two modes"
        # The probe does not explain a machine wholly: compare measured factors up to 1.5 between two of them.
        values = values - by_machine * random.uniform(0.5, 1.5)
        made.append(Year(values, machines, rates + by_machine, steps, kind))
    return made


def backgauge_engine(rule):
    def engine(series, day):
        analysis = align(series.values[:day], series.machines[:day], series.rates[:day], rule).analysis
        return [(change.kind, change.first, change.earliest, change.latest) for change in analysis.changes if change.kind != MACHINE]

    return engine


def ruptures_alone(series, day):
    found = proposals(align(series.values[:day], series.machines[:day], series.rates[:day]).values)
    return [(STEP, first, first, first) for first in found]


def is_at(reported, step):
    """Whether a reported (kind, first run, earliest, latest) means the step."""
    kind, first, earliest, latest = reported
    return kind == STEP and (abs(first - step) <= NEAR or earliest <= step <= latest)


def judged(made, engine):
    """(found in time by size, found at all by size, false changes by kind of series)."""
    in_time, at_all, wrong = Counter(), Counter(), Counter()
    for series in made:
        at_all_here, false_places = set(), set()
        for day in range(2 * SHORTEST, DAYS + 1):
            for reported in engine(series, day):
                meant = [step for step in series.steps if is_at(reported, step)]
                at_all_here.update(meant)
                in_time.update(series.steps[step] for step in meant if day == step + NEAR)
                if not meant and (reported[0] == STEP or series.kind != "drift"):
                    false_places.add(reported[1])
        at_all.update(series.steps[step] for step in at_all_here)
        last = -DAYS
        for first in sorted(false_places):
            wrong[series.kind] += first - last > NEAR
            last = first
    return in_time, at_all, +wrong


def main(arguments):
    parser = argparse.ArgumentParser(prog="backgauge.history.proof", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", metavar="RECORDED.json", help="runs of the same code: reports/tests/recorded/nights/*.json")
    parser.add_argument("--years", type=int, default=5, help="synthetic years of 40 workloads (default: 5)")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="cpu", help="whose noise (default: cpu)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    recorded = parse_object(read_text(options.recorded))
    engines = {"history check": backgauge_engine(Rule()), "ruptures alone": ruptures_alone}
    noises = noise_of(recorded, CLOCKS[options.clock])
    random = np.random.default_rng(options.seed)
    print(describe(recorded, noises, options))
    print(table(engines, noises, options.years, random))
    return errors.GOOD


def describe(recorded, noises, options):
    spread = sorted(100 * float(np.std(np.percentile(noise.times, TIME, axis=1) + np.percentile(noise.probes, PROBE, axis=1), ddof=1))
                    for noise in noises.values())
    runs = next(iter(noises.values())).times.shape
    return (f"noise: {runs[0]} runs of {runs[1]} rounds, {recorded['cpu_model']}, {recorded['how']}, {options.clock} clock; runs of the same code spread by "
            f"{spread[0]:.1f} to {spread[-1]:.1f} % (median {np.median(spread):.1f} %)\n"
            f"simulated: years of {DAYS} runs of {WORKLOADS} workloads, {EACH} of each step, a drift of {100 * DRIFT:g} %, two modes {100 * MODES:g} % "
            "apart, one change of machine\n")


def table(engines, noises, years, random):
    counts = {name: (Counter(), Counter(), Counter()) for name in engines}
    for _ in range(years):
        made = year(noises, random)
        for name, engine in engines.items():
            for total, part in zip(counts[name], judged(made, engine)):
                total.update(part)
    sizes = [f"{100 * size:g} %" for size in STEPS]
    head = ["engine", "years", *(f"{size} in 3 runs" for size in sizes), *(f"{size} ever" for size in sizes), "false changes", "per 1,000 series-months", "in"]
    lines = []
    for name, (in_time, at_all, wrong) in counts.items():
        shares = [f"{100 * found[size] / (EACH * years):.0f} %" for found in (in_time, at_all) for size in STEPS]
        lines.append([name, str(years), *shares, str(wrong.total()), f"{1000 * wrong.total() / (MONTHS * years):.2f}",
                      ", ".join(f"{kind}: {count}" for kind, count in sorted(wrong.items()))])
    return text.render(head, lines, range(1, len(head) - 1), "text")


if __name__ == "__main__":
    errors.run_command(main)
