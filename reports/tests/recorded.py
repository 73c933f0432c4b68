# SPDX-License-Identifier: Apache-2.0
"""Samples that a real machine gave for the same code twice, cut into comparisons."""

import json
import pathlib

import numpy as np
from backgauge.compare.comparison import Comparison, Side
from backgauge.compare.verdict import Rule
from backgauge.run import Pair, Run, Sample

_FOLDER = pathlib.Path(__file__).parent / "recorded"


def names():
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def comparisons(recording, slow, rounds, believe=False, count=40, seed=1):
    """Comparisons of stretches of consecutive rounds, for noise has a memory; `slow` is put into head, which of the two
    series is head is drawn. `believe`: take disturbed samples for quiet ones."""
    random = np.random.default_rng(seed)
    recorded = json.loads((_FOLDER / f"{recording}.json").read_text())
    for _ in range(count):
        run = Run("recorded", {"machine_id": "recorded"})
        for workload, series in recorded["workloads"].items():
            first = random.integers(0, len(series["seconds"][0]) - rounds + 1)
            order = random.permutation(2)
            for name, which, factor in (("base", order[0], 1.0), ("head", order[1], slow)):
                run.pairs[(workload, name)] = _pair(workload, name, series, which, slice(first, first + rounds), factor, believe)
        yield Comparison(Side(run, "base"), Side(run, "head"), True, Rule())


def _pair(workload, name, series, which, chosen, factor, believe):
    samples = [Sample(k, factor * seconds, float("nan"), bool(disturbed) and not believe) for k, (seconds, disturbed)
               in enumerate(zip(series["seconds"][which][chosen], series["disturbed"][which][chosen]))]
    return Pair(workload, name, verdict="PASSED", samples=samples)
