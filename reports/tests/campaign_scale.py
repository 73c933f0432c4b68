#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a campaign costs besides judging: `backgauge campaign` with fake_backgauge.py, which judges nothing.

    PYTHONPATH=reports build/python/bin/python reports/tests/campaign_scale.py [CASES ...]

Prints, for each number of cases, the largest memory and the CPU time of the coordinator, which is also the scheduler and the
workers here, and the batches of 1,000 cases that it dealt."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def measured(cases, folder):
    """(MiB, CPU seconds, seconds, records). The coordinator alone: the fake is another program."""
    environment = os.environ | {"BACKGAUGE_COMMAND": str(HERE / "fake_backgauge.py"), "DASK_TEMPORARY_DIRECTORY": folder}
    program = ("import resource, sys\nfrom backgauge.campaign.__main__ import main\nmain(sys.argv[1:])\n"
               "used = resource.getrusage(resource.RUSAGE_SELF)\nprint('used', used.ru_maxrss, used.ru_utime + used.ru_stime, file=sys.stderr)")
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program, "--tier=full", "--local=2", f"--cases={cases}", f"--out={folder}/out"],
                          env=environment, capture_output=True, text=True)
    took = time.monotonic() - start
    used = [line.split()[1:] for line in done.stderr.splitlines() if line.startswith("used ")]
    if done.returncode != 0 or not used:
        raise SystemExit(done.stdout + done.stderr)
    size = sum(file.stat().st_size for file in pathlib.Path(folder, "out").glob("seed-*/records.jsonl"))
    return float(used[0][0]) / 1024, float(used[0][1]), took, size


def main(arguments):
    print("| cases | memory, MiB | CPU, s | wall, s | batches / CPU s | batches / s | records, GB |\n|---|---|---|---|---|---|---|")
    for cases in (int(float(text)) for text in arguments or ["1e5", "1e6"]):
        with tempfile.TemporaryDirectory() as folder:
            memory, cpu, wall, size = measured(cases, folder)
        batches = -(-cases // 200_000) * 200
        print(f"| {cases:,} | {memory:.0f} | {cpu:.1f} | {wall:.1f} | {batches / cpu:.0f} | {batches / wall:.0f} | {size / 1e9:.2f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
