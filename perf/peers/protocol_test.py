# SPDX-License-Identifier: Apache-2.0
"""What peers say, with frameworks that are not there and with one that is made up."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent

MADE_UP = r"""
import sys
sys.path.insert(0, {here!r})
import protocol

class Loaded:
    outputs = ["y"]
    calls = 0
    def run(self):
        self.calls += 1
        print("noise of a framework")
    def results(self):
        import numpy
        return {{"y": numpy.full((2, 3), self.calls, numpy.float32).T}}

class Peer:
    version = "7"
    def __init__(self, threads):
        self.threads = threads
    def load(self, case):
        if case.op == "other":
            raise protocol.Skip("not this op")
        if case.op == "broken":
            raise ValueError("first line\nsecond line")
        return Loaded()

sys.exit(protocol.serve("made_up", Peer))
"""


class Protocol(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def start(self, script, *arguments, **environment):
        peer = subprocess.Popen([sys.executable, str(script), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, env={**os.environ, **environment})
        self.addCleanup(lambda: peer.returncode is None and peer.communicate())
        return peer

    def made_up(self):
        script = self.folder / "peer_made_up.py"
        script.write_text(MADE_UP.format(here=str(HERE)))
        peer = self.start(script, "--threads=3")
        self.assertEqual(json.loads(peer.stdout.readline()), {"name": "made_up", "version": "7", "threads": 3})

        def ask(**request):
            peer.stdin.write(json.dumps(request) + "\n")
            peer.stdin.flush()
            return json.loads(peer.stdout.readline())

        return peer, ask

    def case(self, op):
        (self.folder / "case.json").write_text(json.dumps(
            {"case": f"{op} b1 dt=f32", "op": op, "dtype": "float32", "dims": {}, "attributes": {}, "facts": {},
             "tensors": []}))
        return {"do": "load", "case": f"{op} b1 dt=f32", "folder": str(self.folder)}

    def test_an_absent_framework_is_named(self):
        for name in ("torch", "tensorflow"):
            (self.folder / f"{name}.py").write_text("raise ImportError('not here')\n")
            peer = self.start(HERE / f"peer_{name}.py", "--threads=1", PYTHONPATH=str(self.folder))
            said = peer.communicate()[0].splitlines()
            self.assertEqual([json.loads(line) for line in said], [{"error": f"{name} is absent: not here"}])
            self.assertEqual(peer.returncode, 1)

    def test_an_absent_plug_in_is_named(self):
        for name in ("onednn-primitive", "onednn-reorders"):
            peer = self.start(HERE / f"peer_{name}.py", BACKGAUGE_ONEDNN_PLUGIN="/no/such/plugin.so")
            said = json.loads(peer.communicate()[0])
            self.assertIn(f"{name} is absent", said["error"])
            self.assertIn("/no/such/plugin.so", said["error"])

    def test_a_case_is_loaded_run_timed_and_dropped(self):
        import numpy
        peer, ask = self.made_up()
        self.assertEqual(ask(**self.case("some")), {"ok": True, "outputs": ["y"]})
        self.assertEqual(ask(do="run"), {"ok": True})
        path = self.folder / "out" / "y.npy"
        self.assertEqual(numpy.load(path).tolist(), [[1, 1], [1, 1], [1, 1]])
        self.assertIn(b"'fortran_order': False", path.read_bytes())
        self.assertGreaterEqual(ask(do="time", calls=4)["seconds"], 0)
        ask(do="run")
        self.assertEqual(numpy.load(path)[0, 0], 6)
        self.assertEqual(ask(do="drop"), {"ok": True})
        self.assertIn("error", ask(do="run"))
        peer.communicate()  # the end of its input
        self.assertEqual(peer.returncode, 0)

    def test_what_goes_wrong_is_said_and_the_peer_goes_on(self):
        _, ask = self.made_up()
        self.assertIn("no case is loaded", ask(do="run")["error"])
        self.assertEqual(ask(**self.case("other")), {"skip": "not this op"})
        self.assertEqual(ask(**self.case("broken")), {"error": "ValueError: first line"})
        self.assertIn("no case is loaded", ask(do="time", calls=1)["error"])
        self.assertEqual(ask(**self.case("some")), {"ok": True, "outputs": ["y"]})
        self.assertIn("no such request", ask(do="dance")["error"])


if __name__ == "__main__":
    unittest.main()
