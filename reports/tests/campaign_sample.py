#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the cases of a tier take, from a sample: every EVERY-th case of a seed, judged by one `backgauge batches`.

    PYTHONPATH=reports BACKGAUGE_COMMAND=... build/python/bin/python reports/tests/campaign_sample.py TIER SEED EVERY [options of batches]

Prints the CPU time and wall time of a case, the size of a record, and the CPU time of planning the tier."""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import zlib

from backgauge.campaign.judges import program


def asked(request, options):
    """(output, CPU seconds, seconds) of `backgauge batches` for one request."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([program(), "batches", *options], input=json.dumps(request) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout.splitlines(), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def main(tier, seed, every, *options):
    out, planning, _ = asked({"tier": tier, "seed": int(seed), "ops": "", "work": 4000}, options)
    batches = [json.loads(line) for line in out[2:]]
    lines = [line for batch in batches for line in batch["lines"]]
    sample = lines[::int(every)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "records.jsonl"
        _, cpu, wall = asked({"batch": batches[0] | {"index": 0, "lines": sample}, "file": str(file)}, options)
        records = file.read_bytes()
    print(f"{tier}, seed {seed}: {len(lines):,} cases in {len(batches)} batches, planned in {planning:.2f} CPU s")
    print(f"{len(sample)} of them: {len(sample) / cpu:.1f} cases / CPU s, {len(sample) / wall:.1f} cases / s; "
          f"{len(records) / len(sample):.0f} bytes a record, {len(zlib.compress(records, 1)) / len(sample):.0f} as it is sent")


if __name__ == "__main__":
    main(*sys.argv[1:])
