# SPDX-License-Identifier: Apache-2.0
"""The data that every chart is made from, and a chart before it is drawn."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ...case_line import OP_NAMES
from ...quantities import counted
from ...records import TensorRatio
from ...run import Run
from ...table import Row, Table, groups, implementations_of
from ...verification import VerifiedRun

# What holds the data of a call, and what the context of a run calls it.
LEVELS = (("L1", "l1"), ("L2", "l2"), ("L3", "l3"), ("memory", "memory"))


@dataclass(frozen=True)
class Chart:
    section: str
    name: str  # of its files
    title: str
    text: str  # what it shows, and what its lines mean
    draw: Callable  # draw(theme, layout) -> Figure, called inside look.themed(theme)
    workloads: tuple[str, ...] = ()  # case lines of its rows, in order
    notes: tuple[str, ...] = ()  # numbers printed next to the picture


@dataclass(frozen=True)
class Material:
    table: Table
    subject: str  # the implementation that the report is about
    tensor_ratios: list[TensorRatio] = field(default_factory=list)
    verified: list[VerifiedRun] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)  # all of them; the table has the last of each setting

    def noise(self, setting):
        """How much the same code twice differed in the run of `setting`, relative; 0 if it does not say."""
        found = self.table.number(setting, "noise_aa")
        return found if finite(found) else 0.0

    @property
    def places(self):
        """{implementation: place} for look.style(): the subject first."""
        names = [self.subject, *implementations_of(self.table.rows), *(r.implementation for r in self.tensor_ratios)]
        return {name: place for place, name in enumerate(dict.fromkeys(names))}

    @property
    def terms(self) -> list[tuple[list[str], str, str]]:
        """What implementations claim about the ops whose results were timed: names of those that claim the same, op, text."""
        found = {}
        for implementation, op, text in dict.fromkeys((row.implementation, row.case.op, row.terms) for row in self.table.rows if row.terms):
            found.setdefault((op, text), []).append(implementation)
        return [(names, op, text) for (op, text), names in found.items()]

    @property
    def timed(self) -> list[Row]:
        """The rows that charts and means are made of: results that were not judged are not among them."""
        return [row for row in self.table.rows if row.is_comparable]


@dataclass(frozen=True)
class Family:
    """The rows of one chart: same setting, suite, op and dtype."""

    setting: object
    suite: str
    op: str
    dtype: str
    rows: list[Row]

    @property
    def is_memory_bound(self):
        """A pass over memory: work is counted in bytes, not in operations (perf/workload/cost_model.h)."""
        return self.op == "lstm_block_cell_grad"

    @property
    def title(self):
        return ", ".join(filter(None, [f"{OP_NAMES.get(self.op, self.op)} {self.dtype}", self.suite, self.setting.device or counted(self.setting.threads, "thread")]))

    def file_name(self, chart):
        where = "device" if self.setting.device else f"{self.setting.threads}t"
        setting = f"{where}-{self.setting.cache_mode}-{self.setting.machine_id[:6]}"
        return slug(f"{chart}-{self.op}-{self.dtype}-{self.suite}-{setting}")


@dataclass(frozen=True)
class Limits:
    """What bounds the times of a setting: on a device its own limits, never those of the CPU beside it."""

    products: tuple[str, float]  # (name, GFLOP/s); nan if the run does not say
    bandwidths: dict  # kind -> [(level, GB/s)] of those that are known; a device has copies alone
    sizes: dict  # level -> bytes that it holds
    kind: str  # of the bandwidths that bound products


def limits_of(table, setting, dtype):
    number = lambda key: table.number(setting, key)
    known = lambda levels: [(name, value) for name, value in levels if finite(value)]
    if setting.device:
        copies = known((name, number(f"device_copy_gbps_{key}")) for name, key in (("L2", "l2"), ("memory", "memory")))
        return Limits(("cuBLASLt products", number(f"device_gflops_{dtype}")), {"copy": copies}, {"L2": number("device_l2_bytes")}, "copy")
    of_kind = lambda kind: known((name, number(f"{kind}_gbps_{key}")) for name, key in LEVELS)
    sizes = {name: number(f"{key}_bytes") * setting.threads for name, key in LEVELS}
    return Limits(("FMA limit", number("fma_gflops_f64" if dtype == "f64" else "fma_gflops_f32")),
                  {kind: of_kind(kind) for kind in ("read", "copy")}, sizes, "read")


def families(material) -> list[Family]:
    found = groups(material.timed, lambda row: (row.setting, row.suite, *row.case.family))
    return [Family(*key, rows) for key, rows in found.items()]


def of_each(material, rows, value):
    """{implementation: {workload: value(row)}} of those that have a value, in the order of the report."""
    found = {name: {} for name in material.places}
    for row in rows:
        if finite(value(row)):
            found[row.implementation][row.workload] = value(row)
    return {name: points for name, points in found.items() if points}


def medians_text(rows):
    """What the times of the rows are medians of."""
    unquiet = sum(not row.is_quiet for row in rows)
    if not unquiet:
        return "Medians of the undisturbed rounds."
    which = "all of them" if unquiet == len(rows) else f"{unquiet} of {len(rows)}"
    return f"Medians; most rounds of {which} were disturbed by other programs, so that these are medians of all rounds."


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def finite(value):
    return math.isfinite(value)
