#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Estimates how long the cases of a tier take, from a sample: every EVERY-th case of a seed, judged by one `backgauge batches`.

    PYTHONPATH=reports BACKGAUGE_COMMAND=... build/python/bin/python reports/tests/campaign_sample.py TIER SEED EVERY [options of batches]

Prints the CPU time and wall time of a case, the size of a record, and the CPU time of planning the tier. Then the records of the
sample are copied for all other cases of their op, and `verify --resume` makes a verdict of them, as at the end of a campaign."""

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


def finished(run, lines, records, options):
    """(CPU seconds, seconds, MiB) of `verify --resume` on a record for each line."""
    known = {}
    for record in map(json.loads, records.splitlines()):
        if record["status"] == "PASSED":
            known.setdefault(record["id"].split()[0], record)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "run.json").write_text(json.dumps(run) + "\n")
        with pathlib.Path(folder, "records.jsonl").open("w") as out:
            for index, line in enumerate(lines):
                print(json.dumps(known[line.split()[0]] | {"id": line, "plan": run["plan"] | {"index": index}}), file=out)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([program(), "verify", "--resume", f"--out={folder}", "--no-shrink", f"--tier={run['plan']['tier']}", f"--seed={run['plan']['seed']}",
                        "--shard=1/1", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start, after.ru_maxrss / 1024


def main(tier, seed, every, *options):
    out, planning, _ = asked({"tier": tier, "seed": int(seed), "ops": "", "work": 4000}, options)
    batches = [json.loads(line) for line in out[2:]]
    lines = [line for batch in batches for line in batch["lines"]]
    sample = lines[::int(every)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "records.jsonl"
        _, cpu, wall = asked({"batch": batches[0] | {"index": 0, "lines": sample}, "file": str(file)}, options)
        records = file.read_bytes()
    cpu_of_verdict, wall_of_verdict, memory = finished(json.loads(out[1])["run"], lines, records, options)
    print(f"{tier}, seed {seed}: {len(lines):,} cases in {len(batches)} batches, planned in {planning:.2f} CPU s")
    print(f"{len(sample)} of them: {len(sample) / cpu:.1f} cases / CPU s, {len(sample) / wall:.1f} cases / s; "
          f"{len(records) / len(sample):.0f} bytes a record, {len(zlib.compress(records, 1)) / len(sample):.0f} as it is sent")
    print(f"the verdict on all of them: {cpu_of_verdict:.0f} CPU s, {wall_of_verdict:.0f} s, {memory:.0f} MiB")


if __name__ == "__main__":
    main(*sys.argv[1:])
