#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CPU time of `backgauge campaign --local=N`, divided by that of `backgauge verify --jobs=N` on the same cases.

    PYTHONPATH=reports BACKGAUGE_COMMAND=... build/python/bin/python reports/tests/campaign_overhead.py PAIRS [options of verify]

The two run in turn, in an order that changes from pair to pair. Prints each pair, and the median of the ratios."""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

JOBS = 2


def cpu_seconds(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdout=subprocess.DEVNULL, env=os.environ | {"BACKGAUGE_PYTHON": sys.executable})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(pairs, *options):
    command, ratios = os.environ["BACKGAUGE_COMMAND"], []
    print("| verify, CPU s | campaign, CPU s | ratio |\n|---|---|---|")
    for k in range(int(pairs)):
        with tempfile.TemporaryDirectory() as folder:
            runs = [("verify", f"--jobs={JOBS}"), ("campaign", f"--local={JOBS}")]
            took = {run[0]: cpu_seconds(command, *run, f"--out={pathlib.Path(folder) / run[0]}", *options) for run in (runs if k % 2 == 0 else runs[::-1])}
        ratios.append(took["campaign"] / took["verify"])
        print(f"| {took['verify']:.1f} | {took['campaign']:.1f} | {ratios[-1]:.3f} |", flush=True)
    print(f"\nmedian of the ratios: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
