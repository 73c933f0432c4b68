# SPDX-License-Identifier: Apache-2.0
"""One workload of one implementation in one entry: the times that count."""

from dataclasses import dataclass

import numpy as np

from .entry import Entry, Timing

WALL, CPU = "wall clock", "CPU time"


@dataclass(frozen=True)
class Point:
    entry: Entry
    timing: Timing
    place: int  # of the entry among all

    @property
    def machine_id(self):
        return str(self.entry.context.get("machine_id", ""))

    def times(self, clock):
        """Seconds per call, round by round; by the wall clock only those of quiet rounds, unless most are disturbed. What
        disturbs a sample is that something else had the core, and CPU time does not count that."""
        if clock == CPU:
            return np.array(self.timing.cpu_seconds)
        return np.array(self.timing.seconds)[self._chosen()]

    def probes(self, clock):
        """The multiply-add loop of the same rounds, in GFLOP/s; nan where it was not run."""
        probes = np.array(self.timing.fma_gflops)
        return probes if clock == CPU else probes[self._chosen()]

    def _chosen(self):
        quiet = ~np.array(self.timing.disturbed, dtype=bool)
        return quiet if 2 * quiet.sum() >= len(quiet) else np.ones(len(quiet), dtype=bool)

    @property
    def disturbed(self):
        return sum(self.timing.disturbed)
