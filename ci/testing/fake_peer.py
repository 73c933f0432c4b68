# SPDX-License-Identifier: Apache-2.0
"""A peer for the tests, in numpy: under the name peer_<manner>.py it is honest, wrong, absent, picky, or ends early."""

import json
import os
import pathlib
import sys
import time

MANNER = pathlib.Path(sys.argv[0]).stem.removeprefix("peer_")


def say(said):
    print(json.dumps(said), flush=True)


if MANNER == "absent":
    say({"error": "no module named framework"})
    sys.exit(1)

import numpy  # noqa: E402

sys.path.insert(0, os.environ["BACKGAUGE_TEST_EQUATIONS"])
import equations  # noqa: E402


def load(folder):
    document = json.loads((folder / "case.json").read_text())
    inputs = {entry["name"]: numpy.load(folder / entry["file"]).astype(numpy.float64) for entry in document["tensors"]
              if entry["role"] == "input"}
    return document, inputs


def compute(document, inputs):
    outputs = equations.OPS[document["op"]](inputs, document["attributes"]["use_peephole"])
    if MANNER == "wrong":
        outputs["cs_prev_grad"] = outputs["cs_prev_grad"] + 1
    return {name: array.astype(document["dtype"]) for name, array in outputs.items()}


say({"name": MANNER, "version": "1.2", "threads": int(sys.argv[1].removeprefix("--threads="))})
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "load":
        folder = pathlib.Path(request["folder"])
        document, inputs = load(folder)
        if MANNER == "picky" and document["op"] != "block_lstm_grad_v2":
            say({"skip": "has no such op"})
            continue
        say({"ok": True, "outputs": list(compute(document, inputs))})
    elif request["do"] == "run":
        for name, array in compute(document, inputs).items():
            numpy.save(folder / "out" / f"{name}.npy", array)
        say({"ok": True})
    elif request["do"] == "time":
        if MANNER == "ends":
            sys.exit(1)
        start = time.perf_counter()
        for _ in range(request["calls"]):
            compute(document, inputs)
        say({"seconds": time.perf_counter() - start})
    elif request["do"] == "drop":
        say({"ok": True})
