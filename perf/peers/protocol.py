# SPDX-License-Identifier: Apache-2.0
"""The protocol between a peer and the benchmark: one JSON object per line, on standard input and output (README.md)."""

import importlib.util
import json
import math
import os
import pathlib
import sys
import time


class Skip(Exception):
    """A case that the peer cannot take; its text says why."""


class Case:
    """A case as a folder: the tensors by name, in the storage dtype, and what case.json says."""

    def __init__(self, folder):
        numpy = importlib.import_module("numpy")
        self.folder = pathlib.Path(folder)
        document = json.loads((self.folder / "case.json").read_text())
        self.line = document["case"]
        self.op = document["op"]
        self.dtype = document["dtype"]
        self.dims = document["dims"]
        self.attributes = document["attributes"]
        self.facts = document["facts"]
        self.inputs = {entry["name"]: numpy.load(self.folder / entry["file"])
                       for entry in document["tensors"] if entry["role"] == "input"}

    def word(self, key, default=""):
        """The value of key=value in the case line."""
        return dict(part.split("=", 1) for part in self.line.split() if "=" in part).get(key, default)

    def write(self, outputs):
        numpy = importlib.import_module("numpy")
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        for name, array in outputs.items():
            numpy.save(out / f"{name}.npy", numpy.ascontiguousarray(array))


def have_numpy():
    """Goes on under the distribution's Python where this one has no numpy."""
    theirs = "/usr/bin/python3"
    if importlib.util.find_spec("numpy") is None and sys.executable != theirs and os.path.exists(theirs):
        os.execv(theirs, [theirs, *sys.argv])


def threads_asked_for():
    for argument in sys.argv[1:]:
        if argument.startswith("--threads="):
            return int(argument.removeprefix("--threads="))
    return 1


def serve(name, open_peer):
    """open_peer(threads) gives a peer with `version` and `load(case)`; or ImportError, OSError, RuntimeError: it is absent.

    load gives what is timed, with `outputs`, the names it can make, `run()`, which makes them, and `results()`, which
    has them as arrays; or Skip. What frameworks print goes to standard error.
    """
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(said):
        channel.write(json.dumps(said) + "\n")
        channel.flush()

    threads = threads_asked_for()
    try:
        peer = open_peer(threads)
    except (ImportError, OSError, RuntimeError) as absence:
        say({"error": f"{name} is absent: {absence}"})
        return 1
    say({"name": name, "version": peer.version, "threads": threads})
    loaded = case = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "load":
                loaded = None
                case = Case(request["folder"])
                loaded = peer.load(case)
                say({"ok": True, "outputs": loaded.outputs})
            elif request["do"] == "drop":
                loaded = case = None
                say({"ok": True})
            elif loaded is None:
                say({"error": f"{request['do']}: no case is loaded"})
            elif request["do"] == "run":
                loaded.run()
                case.write(loaded.results())
                say({"ok": True})
            elif request["do"] == "time":
                say({"seconds": timed(loaded, request["calls"], request.get("evict_bytes", 0))})
            else:
                say({"error": f"{request['do']}: no such request"})
        except Skip as reason:
            say({"skip": str(reason)})
        except Exception as error:  # whatever a framework raises: the benchmark shall know it, and go on
            say({"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"})
    return 0


def timed(loaded, calls, evict_bytes):
    """Seconds of so many calls; with evict_bytes, of calls before each of which so many bytes have been written."""
    if not evict_bytes:
        start = time.perf_counter()
        for _ in range(calls):
            loaded.run()
        return time.perf_counter() - start
    seconds, evicting = 0.0, bytearray(evict_bytes)
    lines = b"\1" * len(range(0, evict_bytes, 64))
    for _ in range(calls):
        evicting[::64] = lines
        start = time.perf_counter()
        loaded.run()
        seconds += time.perf_counter() - start
    return seconds


def takes_last_cs_grad(case):
    """Whether the saved tensors are those of a forward without clipping, and cs_grad is 0 but at the last step."""
    steps = int(case.inputs["seq_len_max"])
    if not case.facts["consistent_saved"] or float(case.word("clip", "0")) > 0:
        raise Skip("saved tensors are not those of its own forward")
    if case.inputs["cs_grad"][:max(steps - 1, 0)].any():
        raise Skip("takes a gradient of the cell state after the last step only")
    if not all(math.isfinite(float(value)) for value in case.inputs["b"].sum(keepdims=True)):
        raise Skip("its forward needs b, which the op never reads and which is not finite here")
    return steps
