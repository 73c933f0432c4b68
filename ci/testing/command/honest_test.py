# SPDX-License-Identifier: Apache-2.0
"""Correct kernels pass under --untrusted, in verify and in bench."""

import os
import pathlib
import re
import unittest

from command import C_PLUGINS, PLAIN, PLUGINS, SANITIZED, CommandTest, run
from untrusted_test import PYTHON, lacking

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = sorted(pathlib.Path(os.environ["BACKGAUGE_TEST_VARIANTS"]).glob("*.so"))
NUMPY = HERE.parents[2] / "impl" / "numpy" / "lstm_block_cell_grad.py"
LIBRARIES = [*VARIANTS, PLAIN, C_PLUGINS / "plugin_in_c.so", PLUGINS / "takes_longer.so"]

CASES = ["lstm_block_cell_grad b5i17h33 peep=1 dt=f32 data=strat:0x1", "block_lstm_grad_v2 t3b5i17h19 peep=1 seq=2 dt=f32 data=strat:0x1",
         "cudnn_rnn_backprop t3b5i17h19 mode=gru dir=bi layers=2 dt=f32 data=strat:0x1", "lstm_block_cell_grad b5i17h33 peep=0 dt=f16 data=strat:0x2"]


@unittest.skipIf(lacking(), lacking())
class Honest(CommandTest):
    def test_there_are_sixteen(self):
        self.assertGreaterEqual(len([*LIBRARIES, "cpu", "eigen"]), 16)

    def judged(self, command, implementation, *arguments):
        lines = [word for case in CASES for word in ("--case", case)]
        done = run(command, "--untrusted", f"--impl={implementation}", *arguments, *lines)
        self.assertEqual(done.returncode, 5 if "MISTRUSTED: not timed: " in done.stdout else 0, done.stdout + done.stderr)
        self.assertIn("untrusted: confined", done.stdout)
        self.assertNotIn("was refused", done.stdout)
        return done.stdout

    def test_verify(self):
        for implementation in [*LIBRARIES, "cpu", "eigen"]:
            with self.subTest(implementation=implementation):
                self.assertRegex(self.judged("verify", implementation), r"summary: [1-4] passed, 0 failed, 0 mistrusted")

    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
    def test_bench(self):
        for implementation in [*LIBRARIES, "cpu", "eigen"]:
            with self.subTest(implementation=implementation):
                # What is neither claimed nor timed was not heard of in time: a machine can be too busy for that.
                out = self.judged("bench", implementation, "--reps=3", "--min-time=1", "--launches=1", "--mistrusted")
                timed = int(re.search(r": ([0-4]) of 4 workloads timed", out).group(1))
                self.assertEqual(timed + out.count("SKIPPED: ") + out.count("MISTRUSTED: not timed: "), 4)

    @unittest.skipIf(SANITIZED, "a build with sanitizers refuses to time anything")
    def test_outputs_that_take_longer_to_hand_over_than_to_compute(self):
        # In memory of a device, all outputs go through the process.
        for implementation, environment in (("cpu", {}), (PLUGINS / "on_fake_device.so", {"BACKGAUGE_CUDART": os.environ["BACKGAUGE_TEST_CUDART"]})):
            with self.subTest(implementation=implementation):
                done = run("bench", "--untrusted", f"--impl={implementation}", "--reps=3", "--min-time=1", "--launches=1", "--mistrusted",
                                   "--case", "lstm_block_cell_grad b1024i512h512 peep=1 dt=f32 data=strat:0x1", environment=environment)
                # On a machine that is too busy, nothing is timed and no implementation FAILED.
                self.assertRegex(done.stdout, ": 1 of 1 workloads timed|MISTRUSTED: not timed: ")

    @unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
    def test_python(self):
        self.judged("verify", NUMPY, f"--python={PYTHON}")
        if not SANITIZED:
            self.judged("bench", NUMPY, f"--python={PYTHON}", "--reps=3", "--min-time=1", "--launches=1")


if __name__ == "__main__":
    unittest.main()
