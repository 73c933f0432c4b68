#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In the place of the program backgauge, for a campaign in which nothing is judged: `batches` writes records of the usual size, and
`verify --resume` only counts them. A seed has 200,000 cases in batches of 1,000.

It shows what the rest costs: planning, dealing, fetching and merging (campaign_scale.py)."""

import json
import pathlib
import sys

SCHEMA = {"schema": "backgauge.run/1", "version": "fake", "command": "0", "impl": {"name": "fake", "version": "1"}, "threads": 1, "shard": "1/1"}
CASES, BATCH = 200_000, 1_000
LINE = "cudnn_rnn_backprop t7b3i5h4 mode=gru dir=bi layers=2 in=linear drop=0.5 dt=f64 data=strat:0x{:08x}"
# What else a record of an ordinary case has: 1 KB.
REST = {"schema": "backgauge.record/1", "op": "cudnn_rnn_backprop", "impl": {"name": "fake", "version": "1"}, "status": "PASSED", "ms": 1.5,
        "tensors": {name: {"max_ratio": 0.123456789012345, "at": [1, 2, 3], "resolution": 123456.789, "elements": 120}
                    for name in ("input_backprop", "input_h_backprop", "input_c_backprop", "params_backprop")}}


def batches():
    say(SCHEMA | {"plan": {}})
    for line in sys.stdin:
        request = json.loads(line)
        if "batch" in request:
            judge(request["batch"], pathlib.Path(request["file"]))
        else:
            plan(request["seed"])


def plan(seed):
    about = {"tier": "full", "seed": seed, "cases": CASES, "digest": "0"}
    first = range(0, CASES, BATCH)
    say({"run": SCHEMA | {"plan": about}, "first": list(first)})
    for index in first:
        say(about | {"index": index, "lines": [LINE.format(seed * CASES + index + k) for k in range(BATCH)]})


def judge(batch, file):
    about = {key: batch[key] for key in ("tier", "seed", "cases", "digest")}
    with file.open("w") as records:
        for k, line in enumerate(batch["lines"]):
            print(json.dumps(REST | {"id": line, "plan": about | {"index": batch["index"] + k}}), file=records)
    say({"kept": 0, "failed": 0})


def verify(options):
    folder = pathlib.Path(next(option for option in options if option.startswith("--out=")).removeprefix("--out="))
    with (folder / "records.jsonl").open() as records:
        count = sum(1 for _ in records)
    counts = dict.fromkeys(("failed", "broken", "waived", "mistrusted", "skipped"), 0) | {"planned": CASES, "passed": count, "not_run": CASES - count}
    (folder / "summary.json").write_text(json.dumps({"verdict": {"word": "PASSED" if count == CASES else "INCOMPLETE", "exit_code": 0}, "counts": counts}))


def say(value):
    print(json.dumps(value, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    batches() if sys.argv[1] == "batches" else verify(sys.argv[2:])
