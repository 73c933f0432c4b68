#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges every peer that is there on small cases, with `backgauge oracle` and `backgauge judge`.

usage: perf/peers/verify_peers.py build/main/ci/backgauge [peers...]
Prints a line a peer and case; exit code 1 if one is wrong. Absent peers are named.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CASES = [line + " data=training:0x1" for line in (
    "lstm_block_cell_grad b5i3h9 peep=0 dt=f32", "lstm_block_cell_grad b5i3h9 peep=1 dt=f32",
    "lstm_block_cell_grad b5i3h9 peep=1 dt=f16", "block_lstm_grad_v2 t6b5i3h9 peep=0 dt=f32",
    "block_lstm_grad_v2 t6b5i3h9 peep=1 seq=4 dt=f32", "block_lstm_grad_v2 t6b5i3h9 peep=0 dt=f16",
    "cudnn_rnn_backprop t6b5i3h9 mode=lstm dir=bi layers=2 dt=f32", "cudnn_rnn_backprop t6b5i3h9 mode=gru dt=f32",
    "cudnn_rnn_backprop t6b5i3h9 mode=tanh dir=bi dt=f64", "cudnn_rnn_backprop t6b5i3h9 mode=relu layers=3 dt=f32")]


def interpreter(name):
    for home in (os.environ.get("BACKGAUGE_PEERS_HOME", ""), os.path.expanduser("~/.cache/backgauge-peers"),
                 "/opt/backgauge-peers"):
        python = pathlib.Path(home, name, "bin/python")
        if home and python.exists():
            return str(python)
    return sys.executable


class Peer:
    def __init__(self, name, command, program=None):
        """name: of its environment; program: None for the peer of this folder with that name."""
        # The plug-in of the command that judges, not of this program.
        built = pathlib.Path(command).resolve().parent.parent / "impl/onednn/libbackgauge_onednn.so"
        environment = {"BACKGAUGE_ONEDNN_PLUGIN": str(built), **os.environ}
        self._process = subprocess.Popen([interpreter(name), str(program or HERE / f"peer_{name}.py"), "--threads=1"],
                                         text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, env=environment)
        self.greeting = json.loads(self._process.stdout.readline())

    def ask(self, **request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def verdict(command, peer, case, folder):
    subprocess.run([command, "oracle", f"--case={case}", f"--dir={folder}"], check=True, stdout=subprocess.DEVNULL)
    loaded = peer.ask(do="load", case=case, folder=str(folder))
    if "skip" in loaded:
        return f"SKIPPED({loaded['skip']})"
    for said in (loaded, peer.ask(do="run")):
        if "error" in said:
            return f"BROKEN({said['error']})"
    options = ["--half-class=B"] if "dt=f16" in case else []
    judged = subprocess.run([command, "judge", f"--dir={folder}", f"--outputs={folder}/out", "--recomputes-co", *options],
                            capture_output=True, text=True)
    return (judged.stdout or judged.stderr or "no answer").split()[0]


def main(command, *names):
    names = names or sorted(path.stem.removeprefix("peer_") for path in HERE.glob("peer_*.py"))
    wrong = 0
    for name in names:
        peer = Peer(name, command)
        if "error" in peer.greeting:
            print(f"{name}: {peer.greeting['error']}")
            continue
        for case in CASES:
            with tempfile.TemporaryDirectory() as folder:
                answer = verdict(command, peer, case, pathlib.Path(folder))
            wrong += not answer.startswith(("PASSED", "SKIPPED"))
            print(f"{name} {peer.greeting['version']}: {answer} {case}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
