# SPDX-License-Identifier: Apache-2.0
"""Times now: runs `backgauge bench` and reads the saved results, until the comparison is clear or the time is up."""

import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..errors import FAILED, GOOD, INCONCLUSIVE, INTERRUPTED, CommandError
from ..run import Run, read_run

# The first look. A fifth of the blocks is trimmed at each end; with 8 that leaves 5 degrees of freedom, where the
# t-quantile of alpha / 2 / 10 workloads is 8, and a spread of 1 % between blocks shows 3.5 %.
FIRST_BLOCKS = 8
# Half a cycle of the six orders of three contestants (bench.cc), which two blocks complete. The median of three bears
# one wild round; more rounds instead of more blocks would not average out what a process is born with.
ROUNDS_OF_A_BLOCK = 3
# Between looks the data grow by half, so that waiting for the next look never wastes more than that.
GROWTH = 1.5
# Processes differ more than the samples of one process. With samples of 5 ms instead of 25 ms, a second of timing was worth 1.4 to 7
# seconds (error^2 x seconds of the four workloads of perf/prove_gate, AMD EPYC, on a quiet machine and with two busy processes). With
# more threads, times by the clock are compared, and with busy processes a sample shorter than a slice of the scheduler is worth less:
# for three of the four workloads, a second was worth 0.2 to 0.7.
SAMPLE_MS_OF_ONE_THREAD = 5

# Options of bench that choose workloads. Later looks name those that are still unclear, one by one.
CHOOSING = ("--suite", "--case", "--T", "--B", "--I", "--H", "--dtype", "--benchmark_filter", "--quick")
_FLAGS = ("--quick", "--untrusted")

# Those that a comparison sets itself, and a measure or times that it cannot compare.
OWN = ("--out", "--blocks", "--measure", "--unjudged")


def bench_command():
    """The program that called this package, or the one on PATH."""
    command = os.environ.get("BACKGAUGE_COMMAND") or shutil.which("backgauge")
    if not command:
        raise CommandError("backgauge, which does the timing, is not on PATH, and BACKGAUGE_COMMAND is not set")
    return command


@dataclass
class Turns:
    """Base, head and base once more, in turns. On input one implementation for each, which one program times in the same
    rounds; or one implementation and two programs, which take turns: base, head, base once more, and then backwards.

    `base`, `head` and `control` are the runs so far: the same run where one program timed all."""

    programs: tuple[str, ...]  # one, or base's and head's
    implementations: tuple[str, ...]  # base and head, or the one that both programs time
    options: list[str]  # of bench
    folder: pathlib.Path
    runs: list[list[Run]] = field(default_factory=list)  # of each program and, of two, of base once more
    launches: int = 0
    looks: Counter = field(default_factory=Counter)  # how often each workload got more blocks
    blocks: list[int] = field(default_factory=list)  # of each look
    seconds: float = 0.0  # that all of it took
    seconds_per_block: float = math.nan  # of one workload

    def add(self, blocks, workloads=()):
        """Times `blocks` more blocks of these workloads, by default of all that the options name."""
        options = [*self.options, *self._defaults()]
        if workloads:
            options = [*without(options, CHOOSING), *(word for line in workloads for word in ("--case", line))]
        begin = time.monotonic()
        if len(self.programs) == 1:
            base, head = self.implementations
            self._launch([(0, self.programs[0])], [f"--impl={base},{base},{head}", f"--blocks={blocks}", *options])
        else:
            for _ in range(blocks):
                turn = [(0, self.programs[0]), (1, self.programs[1]), (2, self.programs[0])]
                self._launch(turn if self.launches % 2 == 0 else turn[::-1], [f"--impl={self.implementations[0]}", *options])
        self.looked(blocks, time.monotonic() - begin)

    def looked(self, blocks, seconds):
        """Counts what was launched last."""
        timed = {workload for workload, _ in self.runs[0][-1].pairs}
        self.looks.update(timed)
        self.blocks.append(blocks)
        self.seconds += seconds
        self.seconds_per_block = seconds / (blocks * max(1, len(timed)))

    def _defaults(self):
        defaults = {"--reps": ROUNDS_OF_A_BLOCK, "--launches": 1}
        threads = [word.removeprefix("--threads=") for word in only(self.options, ("--threads",))]
        if (threads[-1] if threads else os.environ.get("BACKGAUGE_THREADS", "1")) == "1":
            defaults["--min-time"] = SAMPLE_MS_OF_ONE_THREAD
        given = {option.split("=")[0] for option in self.options}
        return [*(f"{option}={value}" for option, value in defaults.items() if option not in given), "--impatient"]

    def _launch(self, turn, options):
        for which, program in turn:
            while len(self.runs) <= which:
                self.runs.append([])
            out = self.folder / f"{('base', 'head', 'base-again')[which] if len(turn) > 1 else 'run'}{self.launches}.json"
            self.runs[which].append(_launch(program, options, out))
        self.launches += 1

    def joined(self):
        """One run for each program and, of two, of base once more."""
        return [join(runs) for runs in self.runs]


def without(options, names):
    """The options without those of these names, whose values may be the next word."""
    return _parted(options, names)[1]


def only(options, names):
    """Those of these names alone."""
    return _parted(options, names)[0]


def _parted(options, names):
    chosen, rest, value = [], [], False
    for option in options:
        name, equals, _ = option.partition("=")
        (chosen if value or name in names else rest).append(option)
        value = not value and name in names and not equals and name not in _FLAGS
    return chosen, rest


@dataclass(frozen=True)
class Patience:
    """How long to time in all. `first`: blocks of the first look."""

    seconds: float = 0.0
    first: int = FIRST_BLOCKS


def until_clear(turns, patience, unclear: Callable[[Turns, int], list[str] | None]):
    """Looks at growing data, of which turns may have some already. `unclear(turns, look)` says which workloads need more blocks,
    or None if nothing does. The number of the last look; 0 if there can be no other."""
    if not turns.blocks:
        turns.add(patience.first)
    while (workloads := unclear(turns, _look(turns, patience))) is not None:
        left = patience.seconds - turns.seconds
        more = min(math.ceil(sum(turns.blocks) * (GROWTH - 1)), int(left / (turns.seconds_per_block * len(workloads))))
        if more < 1:
            break
        turns.add(more, workloads)
    return _look(turns, patience)


def _look(turns, patience):
    return len(turns.blocks) if patience.seconds > 0 else 0


def in_folder(keep, use):
    """use(folder), in a temporary folder unless the runs are to be kept."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        return use(folder)


def _launch(command, options, out):
    done = subprocess.run([command, "bench", *options, f"--out={out}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, check=False)
    if done.returncode < 0 or done.returncode == INTERRUPTED:
        raise CommandError(f"{command} bench was ended by a signal", INTERRUPTED)
    # Wrong results, and those of which nothing is proven, have no time, and their rows give the reason.
    if done.returncode not in (GOOD, FAILED, INCONCLUSIVE) or not out.exists():
        raise CommandError(f"{command} bench: exit code {done.returncode}", done.returncode or 2)
    return read_run(out)


# More than any launch has: rounds and blocks are numbered across launches.
_OF_A_LAUNCH = 1_000_000


def join(runs):
    """Launches of one build as one run; rounds of the same number in the same launch of two builds stay a pair."""
    joined = Run(runs[0].name, {key: text for run in reversed(runs) for key, text in run.context.items()})
    for launch, run in enumerate(runs):
        for pair in run.pairs.values():
            target = joined.pair(pair.workload, pair.implementation)
            target.suite, target.version = target.suite or pair.suite, pair.version
            target.tensors, target.counters = pair.tensors, pair.counters
            # If one launch has a wrong result, the times of all are discarded.
            if target.verdict in ("", "PASSED"):
                target.verdict, target.reason, target.error_over_bound = pair.verdict, pair.reason, pair.error_over_bound
            for sample in pair.samples:
                target.samples.append(replace(sample, round=sample.round + launch * _OF_A_LAUNCH,
                                              block=sample.block + launch * _OF_A_LAUNCH))
    return joined
