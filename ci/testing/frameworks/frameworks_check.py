#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges real frameworks. What they compute is right, so whatever the judge says against them is a false alarm, but for
one bug that TensorFlow has.

usage: ci/testing/frameworks/frameworks_check.py [--build=build/dev] [--tier=smoke] [--seed=1] [--lines=40] [names...]

tensorflow  both LSTM ops of the tier as a plug-in of `backgauge verify` (bridge.cc), class B for half: may fail only
            calls with B = 0 and S > 0, whose w_grad TensorFlow leaves unwritten
torch, keras, jax  CudnnRNNBackprop with infinite values, --lines of each dtype, by `backgauge oracle` and `judge`: may
            fail none
What is not installed (ci/install-deps --peers) is SKIPPED. Exit code 1 for a false alarm, or if nothing could be judged
of a framework that is here.
"""

import argparse
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PEERS = ROOT / "perf/peers"
sys.path.insert(0, str(PEERS))
import verify_peers  # noqa: E402

# Where each is installed, the program that speaks for it, and which nets of CudnnRNNBackprop it has. Keras comes with
# TensorFlow.
ALL = ("lstm", "gru", "tanh", "relu")
FRAMEWORKS = {"tensorflow": ("tensorflow", PEERS / "peer_tensorflow.py", ()),
              "torch": ("torch", PEERS / "peer_torch.py", ALL), "keras": ("tensorflow", HERE / "peer_keras.py", ALL),
              "jax": ("jax", HERE / "peer_jax.py", ("lstm",))}

# Infinite gradients from above that PyTorch, Keras and JAX turn into NaN where the forms of the equations do not.
ACCUSED_ONCE = [f"cudnn_rnn_backprop {line}" for line in (
    "t1b5i7h7 mode=gru dir=bi layers=1 in=linear dt=f32 data=inf:0xf054d9a7",
    "t2b3i3h5 mode=gru dir=uni layers=1 in=linear dt=f64 data=inf:0x29aa576e",
    "t2b3i3h5 mode=lstm dir=uni layers=1 in=linear dt=f32 data=inf:0xc5912cad")]


def absence(framework):
    """Why a framework cannot be judged; "" if it can."""
    python = verify_peers.interpreter(FRAMEWORKS[framework][0])
    asked = subprocess.run([python, "-c", "import importlib.util, sys; "
                                          f"sys.exit(importlib.util.find_spec('{framework}') is None)"],
                           capture_output=True)
    return f"{python} has no {framework} (ci/install-deps --peers)" if asked.returncode else ""


def peers_at(path, framework):
    """Answers every connection at a Unix socket with a peer of its own, until the program ends."""
    environment, program, _ = FRAMEWORKS[framework]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve():
        while True:
            connection, _ = listener.accept()
            with connection:
                subprocess.Popen([verify_peers.interpreter(environment), str(program), "--threads=1"],
                                 stdin=connection.fileno(), stdout=connection.fileno(), stderr=subprocess.DEVNULL)

    threading.Thread(target=serve, daemon=True).start()


def is_bug_of_tensorflow(record):
    """B = 0: TensorFlow returns before it sets the gradients summed over the batch, such as w_grad, to 0."""
    dims = re.match(r"block_lstm_grad_v2 t(\d+)b0i", record["id"])
    steps = re.search(r" seq=(\d+)", record["id"])
    wrong = [tensor for tensor in record["tensors"].values() if tensor["bad"] > 0]
    return (dims is not None and (steps is None or int(steps[1]) > 0) and
            all(tensor.get("want", 0) == 0 for tensor in wrong))


def judge_plugin(options, folder):
    """tensorflow: counts of verdicts, and what must not be."""
    peers_at(folder / "socket", "tensorflow")
    out = folder / "out"
    done = subprocess.run([options.command, "verify", f"--impl={options.build}/ci/testing/tensorflow_bridge.so",
                           "--ops=lstm_block_cell_grad,block_lstm_grad_v2", f"--tier={options.tier}",
                           f"--seed={options.seed}", "--no-shrink", f"--out={out}"],
                          capture_output=True, text=True,
                          env={**os.environ, "BACKGAUGE_BRIDGE_SOCKET": str(folder / "socket"),
                               "BACKGAUGE_BRIDGE_FOLDER": str(folder)})
    if not (out / "records.jsonl").exists():
        return {}, [f"no records: {(done.stdout + done.stderr)[-300:]}"]
    counts, alarms = {}, []
    for text in (out / "records.jsonl").read_text().splitlines():
        record = json.loads(text)
        status, line = record["status"].split("(")[0].split()[0], record["id"]
        if status == "FAILED" and is_bug_of_tensorflow(record):
            status = "FAILED by TensorFlow's bug"
        counts[status] = counts.get(status, 0) + 1
        if status in ("FAILED", "BROKEN"):
            alarms.append(f"{line}: {record.get('reason', '')}")
    return counts, alarms


def infinite_lines(options, modes):
    """Case lines of CudnnRNNBackprop with data=inf: those of ACCUSED_ONCE, and --lines of each dtype, evenly over the
    ci tier."""
    listed = subprocess.run([options.command, "list", "--cases", "--as-planned", "--tier=ci", f"--seed={options.seed}",
                             "--ops=cudnn_rnn_backprop"], capture_output=True, text=True, check=True).stdout
    mine = [line for line in ACCUSED_ONCE + listed.splitlines()
            if any(f" mode={mode} " in line for mode in modes) and " in=skip " not in line and " drop=" not in line]
    chosen = [line for line in mine if line in ACCUSED_ONCE]
    for dtype in ("f32", "f64"):
        lines = [line for line in mine if " data=inf:" in line and f" dt={dtype} " in line and line not in chosen]
        chosen += lines[::max(1, len(lines) // options.lines)][:options.lines]
    return chosen


def judge_by_files(options, framework, folder):
    environment, program, modes = FRAMEWORKS[framework]
    peer = verify_peers.Peer(environment, options.command, program)
    if "error" in peer.greeting:
        return {}, [peer.greeting["error"]]
    counts, alarms = {}, []
    for number, line in enumerate(infinite_lines(options, modes)):
        answer = verify_peers.verdict(options.command, peer, line, folder / str(number))
        status = answer.split("(")[0]
        counts[status] = counts.get(status, 0) + 1
        if status not in ("PASSED", "SKIPPED", "MISTRUSTED"):
            alarms.append(f"{answer} {line}")
    return counts, alarms


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--tier", default="smoke")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("frameworks", nargs="*", default=list(FRAMEWORKS))
    options = parser.parse_args()
    unknown = set(options.frameworks) - set(FRAMEWORKS)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: expected some of {', '.join(FRAMEWORKS)}")
    options.command = str(options.build / "ci/backgauge")
    wrong = False
    for framework in options.frameworks:
        why = absence(framework)
        if why:
            print(f"SKIPPED {framework}: {why}")
            continue
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
            if framework == "tensorflow":
                counts, alarms = judge_plugin(options, pathlib.Path(folder))
            else:
                counts, alarms = judge_by_files(options, framework, pathlib.Path(folder))
        for alarm in alarms:
            print(f"FALSE ALARM {framework}: {alarm}")
        said = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        nothing = counts.get("PASSED", 0) == 0
        print(f"{'FAILED' if alarms or nothing else 'PASSED'} {framework}: {said or 'nothing judged'}", flush=True)
        wrong = wrong or bool(alarms) or nothing
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
