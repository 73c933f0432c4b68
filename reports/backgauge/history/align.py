# SPDX-License-Identifier: Apache-2.0
"""Values of a series as change points need them: one for each run, as if one machine had measured all of them."""

from dataclasses import dataclass, replace

import numpy as np

from .changes import DRIFT, MACHINE, Analysis, Rule, analyse
from .series import Series

# Runs of two machines as far apart in the series are taken to measure the same code.
_NEAR = 5
# The value of a run: its lower quartile of times, in units of the multiply-add loop in its better rounds. In sixteen series that were
# measured while builds ran (load 5 to 22, CPU time), medians of successive runs of the same code spread by 2.1 % and were correlated
# (0.3); these values spread by 1.2 % and were not (0.0).
TIME, PROBE = 25, 90


@dataclass(frozen=True)
class Switch:
    """Runs of another machine of the class begin."""

    first: int
    factor: float  # how much longer it takes than the machine before
    by_probe: float  # of that, what the multiply-add loop explains
    is_known: bool  # whether other runs of both machines show the factor; otherwise the code may have changed here too


@dataclass(frozen=True)
class Aligned:
    values: np.ndarray  # logarithms of seconds per call on the machine of the last run
    switches: list[Switch]
    analysis: Analysis


def aligned(series: Series, rule=Rule()) -> Aligned:
    values = _percentiles([point.times(series.clock) for point in series.points], TIME)
    rates = _percentiles([point.probes(series.clock) for point in series.points], PROBE)
    return align(np.log(values), series.machines, np.log(rates), rule)


def _percentiles(runs, percent):
    """A percentile of each run's rounds. Runs with equally many rounds share one call: a series of two years takes 1 ms instead of 60."""
    found = np.empty(len(runs))
    for count in {len(run) for run in runs}:
        places = [k for k, run in enumerate(runs) if len(run) == count]
        found[places] = np.percentile([runs[k] for k in places], percent, axis=1)
    return found


def align(values, machines, rates, rule=Rule()) -> Aligned:
    """On input logarithms of seconds and of the multiply-add loop; the latter may be nan."""
    levels = {machine: _median([rate for rate, of in zip(rates, machines) if of == machine]) for machine in set(machines)}
    # In units of the loop, but as seconds of the last machine at its usual speed.
    known_rates = all(np.isfinite(list(levels.values())))
    unit = np.where(np.isfinite(rates), rates, [levels[machine] for machine in machines]) - levels[machines[-1]] if known_rates else 0.0
    offsets, known = _offsets(values + unit, machines)
    moved = values + unit - np.array([offsets[machine] for machine in machines])
    switches = []
    for k in range(1, len(machines)):
        old, new = machines[k - 1], machines[k]
        if old != new:
            by_probe = levels[old] - levels[new] if known_rates else 0.0
            switches.append(Switch(k, float(np.exp(offsets[new] - offsets[old] + by_probe)), float(np.exp(by_probe)),
                                   frozenset((old, new)) in known))
    # From one change of machine alone its factor is known no better than its nearest runs say.
    breaks = [switch.first for switch in switches if not switch.is_known]
    clock = np.array([rate - levels[machine] for rate, machine in zip(rates, machines)]) if known_rates else np.zeros(len(values))
    return Aligned(moved, switches, _explained(analyse(moved, rule, breaks), clock))


def _median(values):
    values = [value for value in values if np.isfinite(value)]
    return float(np.median(values)) if values else float("nan")


def _offsets(values, machines):
    """({machine: log of its time / that of the last run's machine}, pairs of machines that took turns often enough).

    Machines are joined in the order of how many near runs they share; the median over pairs of near runs is not moved by a
    change of the code that falls between a few of them."""
    pairs = {}
    for i, machine in enumerate(machines):
        for j in range(i + 1, min(i + _NEAR + 1, len(machines))):
            if machines[j] != machine:
                one, other = sorted((machine, machines[j]))
                difference = values[j] - values[i]
                pairs.setdefault((one, other), []).append(difference if machines[j] == other else -difference)
    offsets = {machines[-1]: 0.0}
    remaining = sorted(pairs, key=lambda pair: -len(pairs[pair]))
    while len(offsets) < len(set(machines)):
        pair = next(pair for pair in remaining if (pair[0] in offsets) != (pair[1] in offsets))
        one, other = pair
        if one in offsets:
            offsets[other] = offsets[one] + float(np.median(pairs[pair]))
        else:
            offsets[one] = offsets[other] - float(np.median(pairs[pair]))
    changes = [frozenset(pair) for pair in zip(machines, machines[1:]) if pair[0] != pair[1]]
    return offsets, {pair for pair in changes if changes.count(pair) > 1}


def _explained(analysis, clock):
    """A change that seconds show less than half of is one of the multiply-add loop: of the machine's clock or firmware, under
    code that does not depend on it. `clock`: logarithms of the loop relative to what is usual on the machine."""
    changes = []
    for change in analysis.changes:
        start = max((bound for bound in analysis.bounds if bound < change.first), default=0)
        in_loop = _rise(clock[change.first:change.stop]) if change.kind == DRIFT else (
            _median(clock[change.first:change.stop]) - _median(clock[start:change.first]))
        if (np.log(change.ratio) - in_loop) / np.log(change.ratio) < 0.5:
            change = replace(change, kind=MACHINE)
        changes.append(change)
    return replace(analysis, changes=changes)


def _rise(values):
    """From the first value to the last, as a straight line through those that are known has it."""
    known = np.flatnonzero(np.isfinite(values))
    return float(np.polyfit(known, values[known], 1)[0]) * (len(values) - 1) if len(known) > 1 else float("nan")
