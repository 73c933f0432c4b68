# SPDX-License-Identifier: Apache-2.0
"""Times now: runs `backgauge bench` and reads the saved results."""

import os
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import replace

from ..errors import CommandError, INTERRUPTED
from ..run import Run, read_run


def bench_command():
    """The program that called this package, or the one on PATH."""
    command = os.environ.get("BACKGAUGE_COMMAND") or shutil.which("backgauge")
    if not command:
        raise CommandError("backgauge, which does the timing, is not on PATH, and BACKGAUGE_COMMAND is not set")
    return command


def time_commands(commands, options, launches, keep):
    """On input one command for each build (one or two) and the options of bench.

    On output one run per command, of all its launches. Builds take turns, in the order A B, B A, A B, ...: a process
    draws its addresses once, so that one launch alone may be fast or slow by luck.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        runs = [[] for _ in commands]
        for launch in range(launches):
            order = range(len(commands)) if launch % 2 == 0 else reversed(range(len(commands)))
            for which in order:
                name = f"{'base' if which == 0 else 'head'}{launch}" if len(commands) > 1 else f"run{launch}"
                runs[which].append(_launch(commands[which], options, folder / f"{name}.json"))
        return [join(of_command) for of_command in runs]


def _launch(command, options, out):
    done = subprocess.run([command, "bench", *options, f"--out={out}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, check=False)
    if done.returncode < 0 or done.returncode == INTERRUPTED:
        raise CommandError(f"{command} bench was ended by a signal", INTERRUPTED)
    # 1: a result was wrong. It has no time, and its row gives the reason.
    if done.returncode not in (0, 1) or not out.exists():
        raise CommandError(f"{command} bench: exit code {done.returncode}", done.returncode or 2)
    return read_run(out)


# More than any launch has: rounds are numbered across launches.
_ROUNDS_OF_A_LAUNCH = 1_000_000


def join(runs):
    """Launches of one build as one run; rounds of the same number in the same launch of two builds stay a pair."""
    joined = Run(runs[0].name, dict(runs[0].context))
    for launch, run in enumerate(runs):
        for pair in run.pairs.values():
            target = joined.pair(pair.workload, pair.implementation)
            target.suite, target.version = pair.suite, pair.version
            target.tensors, target.counters = pair.tensors, pair.counters
            # If one launch has a wrong result, the times of all are discarded.
            if target.verdict in ("", "PASSED"):
                target.verdict, target.reason, target.error_over_bound = pair.verdict, pair.reason, pair.error_over_bound
            for sample in pair.samples:
                target.samples.append(replace(sample, round=sample.round + launch * _ROUNDS_OF_A_LAUNCH))
    return joined
