# SPDX-License-Identifier: Apache-2.0
"""Makes a recording for recorded.py of a run of the same code twice:

    backgauge bench --impl=cpu,cpu --reps=60 --case=… --out=run.json
    python3 reports/tests/record.py run.json recorded/NAME.json [--clock=cpu]

`--clock=cpu` takes the CPU time of each sample from RUN.json: what the core spent on it, on a machine whose cores others took
away in between. Such samples count as quiet.
"""

import json
import pathlib
import sys

from backgauge.run import read_run


def wall_series(run):
    """{workload: {implementation: [(round, seconds, disturbed)]}}."""
    found = {}
    for (workload, implementation), pair in run.pairs.items():
        samples = sorted(pair.samples, key=lambda sample: sample.round)
        found.setdefault(workload, {})[implementation] = [(s.round, s.seconds, s.disturbed) for s in samples]
    return found


def cpu_series(path):
    found = {}
    for entry in json.loads(pathlib.Path(path).read_text())["benchmarks"]:
        if entry["run_type"] == "iteration":
            of_workload = found.setdefault(entry["label"].split(" chk=")[0], {})
            samples = of_workload.setdefault(entry["name"].split("/")[0], [])
            samples.append((entry["repetition_index"], entry["cpu_time"] * 1e-3, False))
    return found


def main(source, target, *options):
    run = read_run(source)
    clock = "cpu" if "--clock=cpu" in options else "wall"
    series = cpu_series(source) if clock == "cpu" else wall_series(run)
    lines = []
    for workload, of_workload in series.items():
        both = list(of_workload.values())
        entry = {"seconds": [[float(f"{seconds:.5g}") for _, seconds, _ in one] for one in both],
                 "disturbed": [[int(disturbed) for _, _, disturbed in one] for one in both]}
        lines.append(f"{json.dumps(workload)}:{json.dumps(entry, separators=(',', ':'))}")
    context = {key: run.context.get(key, "") for key in ("cpu_model", "isa", "commit")}
    head = json.dumps({**context, "clock": clock})[:-1]
    pathlib.Path(target).write_text(head + ',"workloads":{\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
