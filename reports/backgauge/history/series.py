# SPDX-License-Identifier: Apache-2.0
"""Entries as series: one workload of one implementation, from commit to commit, on machines of one class."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..case_line import parse_case_line
from ..surroundings import LIMIT, differences, signature
from .commits import ordered
from .machine import MachineClass, class_of
from .point import CPU, WALL, Point


@dataclass(frozen=True)
class Key:
    branch: str
    machine: MachineClass
    threads: str
    cache_mode: str
    implementation: str
    workload: str

    @property
    def case_text(self):
        return parse_case_line(self.workload).name

    @property
    def setting_text(self):
        threads = "1 thread" if self.threads == "1" else f"{self.threads} threads"
        return ", ".join(filter(None, [self.machine.text, threads, self.cache_mode and f"{self.cache_mode} caches", self.branch]))


@dataclass(frozen=True)
class Series:
    key: Key
    points: list[Point]  # in the order of the commits; all have times
    failures: list[Point]  # of the same key, without a time

    @property
    def lost(self):
        """The last run, if it has no time; None otherwise."""
        if self.failures and (not self.points or self.failures[-1].place > self.points[-1].place):
            return self.failures[-1]
        return None

    @cached_property
    def machines(self):
        """For each point what measured it: runs of the same name differ in nothing that a time depends on. Limits do not count:
        each run is in units of the multiply-add loop of its own rounds."""
        contexts, names = {}, {}  # of the first run of each name; of all that say the same
        for point in self.points:
            context = point.entry.context
            says = signature(context)
            if says not in names:
                names[says] = next((name for name, other in contexts.items() if not changed(other, context)), f"{point.machine_id} {len(contexts)}")
                contexts.setdefault(names[says], context)
        return [names[signature(point.entry.context)] for point in self.points]

    @cached_property
    def clock(self):
        """The wall clock, unless most samples were disturbed and CPU time is known to mean the same: with one thread that
        computes, both agree in every round that has its core for itself, and one such round is proof. A thread that waits
        for a device, or for other threads, never has as much CPU time as time."""
        disturbed = sum(point.disturbed for point in self.points)
        if 2 * disturbed <= sum(len(point.timing.seconds) for point in self.points) or self.key.threads != "1":
            return WALL
        if not all(np.min(point.timing.cpu_seconds) > 0 for point in self.points):  # nan: not known
            return WALL
        best = max(np.max(np.array(point.timing.cpu_seconds) / np.array(point.timing.seconds)) for point in self.points)
        return CPU if best >= _SAME_CLOCK else WALL


# The timer interrupt and the calls between samples cost 1 to 3 % of a sample of 25 ms.
_SAME_CLOCK = 0.95


def changed(before, after):
    """What differs between the contexts of two runs of a series, but for limits."""
    return [each for each in differences(before, after) if each.kind != LIMIT]


def machine_matches(context, wanted):
    machine = class_of(context)
    return wanted is None or any(wanted.lower() in text.lower() for text in (machine.text, str(context.get("machine_id", ""))))


def chosen(entries, options):
    """Entries of the branch and the machines that the options name, in the order of their commits."""
    return [entry for entry in ordered(entries)
            if options.branch in (None, entry.branch) and machine_matches(entry.context, options.machine)]


def series_of(entries, implementation=None) -> list[Series]:
    """On input entries in the order of their commits."""
    found = {}
    for place, entry in enumerate(entries):
        machine = class_of(entry.context)
        for timing in entry.timings:
            if implementation not in (None, timing.implementation):
                continue
            key = Key(entry.branch, machine, str(entry.context.get("threads", "1")), str(entry.context.get("cache_mode", "")),
                      timing.implementation, timing.workload)
            found.setdefault(key, ([], []))[0 if timing.has_time else 1].append(Point(entry, timing, place))
    return [Series(key, *points) for key, points in found.items()]
