# SPDX-License-Identifier: Apache-2.0
"""Measures what `history check` finds of slopes, on synthetic series.

    python3 -m backgauge.history.proof_slopes [--series=100] [--noise=0.5%] [--seed=1]

A series is found if, on its last night, something in it is SLOWER than before it. Half of them have quiet nights before: up to 100.
"""

import argparse
import math

import numpy as np

from .. import errors
from ..command_line import share
from . import text
from .changes import DRIFT, STEP, analyse

SIZES = (0.03, 0.05, 0.1, 0.2, 0.5)
NIGHTS = (20, 30, 60, 90, 120)
CREEP, COMMITS = 0.007, 30
STEP_BESIDE = 0.06


def slope(nights, size):
    return np.linspace(0, math.log1p(size), nights)


def stairs(nights_of_a_commit):
    return np.repeat(math.log1p(CREEP) * np.arange(1, COMMITS + 1), nights_of_a_commit)


def shapes():
    """{description: logarithms of times without noise, after quiet nights}"""
    made = {f"{100 * size:g} % over {nights} nights": slope(nights, size) for nights in NIGHTS for size in SIZES}
    level = math.log1p(STEP_BESIDE)
    return made | {
        **{f"{100 * CREEP:g} % with each of {COMMITS} commits, {nights} to a commit": stairs(nights) for nights in (1, 2, 5)},
        "10 % over 60 nights, 30 nights, a step of 6 %, 20 nights": np.concatenate(
            [slope(60, 0.1), np.full(30, math.log1p(0.1)), np.full(20, math.log1p(0.1) + level)]),
        "20 nights, a step of 6 %, 30 nights, 10 % over 60 nights": np.concatenate([np.zeros(20), np.full(30, level), level + slope(60, 0.1)])}


def found(shape, count, noise, random):
    """How many of so many series have a slow-down, a drift, a step that is slower."""
    counts = np.zeros(3, dtype=int)
    for _ in range(count):
        quiet = int(random.integers(100)) if random.random() < 0.5 else 0
        values = np.concatenate([np.zeros(quiet), shape]) + random.normal(0, noise, quiet + len(shape))
        kinds = {change.kind for change in analyse(values).changes if change.ratio > 1}
        counts += [bool(kinds & {DRIFT, STEP}), DRIFT in kinds, STEP in kinds]
    return counts


def main(arguments):
    parser = argparse.ArgumentParser(prog="backgauge.history.proof_slopes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=100, help="of each shape (default: 100)")
    parser.add_argument("--noise", type=share, default=0.005, metavar="0.5%", help="spread of the runs, normal (default: 0.5%%)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    random = np.random.default_rng(options.seed)
    results = {name: found(shape, options.series, options.noise, random) for name, shape in shapes().items()}

    def percent(count):
        return f"{100 * count / options.series:.0f} %"

    head = ["over", *(f"{100 * size:g} %" for size in SIZES)]
    lines = [[f"{nights} nights", *(percent(results[f"{100 * size:g} % over {nights} nights"][0]) for size in SIZES)] for nights in NIGHTS]
    print(text.render(head, lines, range(1, len(head)), "markdown") + "\n")
    others = [[name, *map(percent, counts)] for name, counts in list(results.items())[len(SIZES) * len(NIGHTS):]]
    print(text.render(["shape", "found", "as a drift", "a step"], others, (1, 2, 3), "markdown"))
    return errors.GOOD


if __name__ == "__main__":
    errors.run_command(main)
