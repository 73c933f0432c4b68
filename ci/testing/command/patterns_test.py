# SPDX-License-Identifier: Apache-2.0
"""Every row of the table of patterns in properties/UNTRUSTED.md: what is tried, and that it is caught by what the row says.
The rows of the table and the tests of this file are the same."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from command import CELL, PLUGINS, SANITIZED, CommandTest, run
from untrusted_test import PYTHON, lacking

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parents[2] / "properties" / "UNTRUSTED.md"
CELLS = HERE.parent / "kernels" / "cells.py"
NUMPY = HERE.parents[2] / "impl" / "numpy" / "lstm_block_cell_grad.py"
GAMES = PLUGINS / "games.so"
LONG = "lstm_block_cell_grad b512i128h512 peep=1 dt=f32 data=strat:0x1"
FAKE = {"BACKGAUGE_CUDART": os.environ["BACKGAUGE_TEST_CUDART"]}

TIMED = "lstm_block_cell_grad b64i128h128 peep=1 dt=f32 data=strat:0x1"
SHORT = ["--reps=3", "--min-time=3", "--launches=1"]
# On a machine that is too busy, a wrong clock looks like one that is read late, and neither is timed.
LATE = "MISTRUSTED: not timed: its process says"
CLOCKS = f"(FAILED: its process says|{LATE})"
FIRST_OF_ITS_OUTPUTS = r"\w+\[[\d,]+\]: got "
WRONG_VALUES = r"ratio \S+ \(allowed \S+\)|wrongly NaN, infinite or finite"


def rows():
    """The names of the tests in the table."""
    found = re.findall(r"^\| (?:[^|]*) \| `(\w+)` \| (?:[^|]*) \| (?:[^|]*) \|$", TABLE.read_text(), re.MULTILINE)
    return set(found)


class Table(unittest.TestCase):
    def test_every_row_has_its_test_and_every_test_its_row(self):
        tests = {name.removeprefix("test_") for part in (OnTheProcessor, OnAFakeDevice, InPython) for name in dir(part)
                 if name.startswith("test_")}
        self.assertEqual(rows(), tests)


class Patterns(CommandTest):
    def setUp(self):
        super().setUp()
        if lacking():
            self.skipTest(lacking())

    # What the kernels of these tests are told; nothing else of the environment reaches them.
    HANDED_ON = {"BACKGAUGE_VARIABLES": "BACKGAUGE_TEST_GAME,BACKGAUGE_TEST_FOLDER,BACKGAUGE_TEST_KERNEL"}

    def verify(self, implementation, expected, *arguments, **environment):
        environment |= self.HANDED_ON
        done = self.expect(1, "verify", "--untrusted", "--no-shrink", "--fail-fast", f"--impl={implementation}", *arguments, environment=environment)
        self.assertRegex(done.stdout, expected)

    def bench(self, implementation, expected, *arguments, code=1, line=TIMED, **environment):
        if SANITIZED:
            self.skipTest("a build with sanitizers refuses to time anything")
        environment |= self.HANDED_ON
        done = run("bench", "--untrusted", *SHORT, f"--impl={implementation}", "--case", line, *arguments, environment=environment)
        code = 5 if "MISTRUSTED: not timed: " in done.stdout else code
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertRegex(done.stdout, expected)
        return done.stdout

    def game(self, name, expected, *arguments, **options):
        return self.bench(GAMES, expected, *arguments, BACKGAUGE_TEST_GAME=name, **options)

    def saboteur(self, name, ops):
        self.verify(f"saboteur:{name}", r"summary: \d+ passed, [1-9]\d* failed", "--tier=smoke", f"--ops={ops}")


class OnTheProcessor(Patterns):
    # A call so long that the clocks of two processes agree on it even on a busy machine.
    def test_nothing_is_wrong_with_the_games_themselves(self):
        self.game("", "games: 1 of 1 workloads timed", code=0, line=LONG)

    # Times.
    def test_thread(self):
        self.game("thread", "FAILED: .*(never written|not repeatable)")

    def test_slow_clock(self):
        # A call that takes much longer than two processes need to wake each other.
        self.game("slow clock", rf"{CLOCKS} that a call took .* us, by the judge's clock it was .* us|FAILED: keeps \S+ CPUs busy", line=LONG)

    def test_slow_clock_under_load(self):
        for _ in range(4 * os.cpu_count()):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)
        for line in (LONG, TIMED):
            self.game("slow clock", rf"{CLOCKS}|MISTRUSTED: not timed: in each of its calls|FAILED: keeps \S+ CPUs busy", line=line)

    def test_stopped_clock(self):
        self.game("stopped clock", f"FAILED: its process took no time at all|{CLOCKS} that a call took")

    def test_bell(self):
        self.game("bell", f"{CLOCKS}|FAILED: in a timed call: {FIRST_OF_ITS_OUTPUTS}")

    def test_told(self):
        self.game("told", "games: 1 of 1 workloads timed|MISTRUSTED: not timed: ", code=0, line=LONG)

    def test_ahead(self):
        self.game("ahead", "FAILED: (.* of its threads run between the calls|keeps .* CPUs busy|its process says)")

    # Values.
    def test_skip(self):
        self.game("skip", "FAILED: .*(never written|not repeatable)")

    def test_replay(self):
        self.game("replay", f"FAILED: (in a timed call: )?({FIRST_OF_ITS_OUTPUTS}|not repeatable)")

    def test_signs(self):
        self.game("signs", f"FAILED: in a timed call: {FIRST_OF_ITS_OUTPUTS}", line="lstm_block_cell_grad b64i128h128 peep=0 dt=f32 data=strat:0x1")

    def test_drift(self):
        self.game("drift", f"FAILED: .*({FIRST_OF_ITS_OUTPUTS}|not repeatable)")

    def test_phase(self):
        self.game("phase", f"FAILED: .*({FIRST_OF_ITS_OUTPUTS}|not repeatable)")

    def test_shape(self):
        self.game("shape", f"FAILED: .*{FIRST_OF_ITS_OUTPUTS}")

    def test_file(self):
        folder = self.folder / "answers"
        folder.mkdir()
        self.game("file", "games: 1 of 1 workloads timed", code=0, line=LONG, BACKGAUGE_TEST_FOLDER=str(folder))
        self.assertEqual(list(folder.iterdir()), [])
        self.expect(0, "repro", CELL, f"--impl={GAMES}", environment={"BACKGAUGE_TEST_GAME": "file", "BACKGAUGE_TEST_FOLDER": str(folder)})
        self.assertEqual([file.name for file in folder.iterdir()], ["answers"])

    def test_hidden_libraries(self):
        arguments = ["verify", "--untrusted", f"--impl={GAMES}", "--case", CELL]
        done = self.expect(0, *arguments, environment={"BACKGAUGE_TEST_GAME": "hides libraries", **self.HANDED_ON})
        self.assertRegex(done.stdout, r"\nuntrusted: confined; loads games\.so, libutil\.so\.1, memfd:hid\\x1b\[31mden")

    def test_timed_hang(self):
        self.game("timed hang", r"BROKEN: timeout: has not returned within \S+ s, with --timeout=1s", "--timeout=1s",
                  line="lstm_block_cell_grad b63i127h129 peep=1 dt=f32 data=strat:0x1")

    def test_timed_leak(self):
        self.game("leak", "BROKEN: memory: its process holds .* with --memory-limit=1", "--memory-limit=1G")

    def test_secrets(self):
        with open(self.folder / "secret", "w+") as secret:
            os.dup2(secret.fileno(), 100)
            self.addCleanup(os.close, 100)
            arguments = ["--case", CELL, f"--impl={GAMES}"]
            options = {"environment": {"BACKGAUGE_TEST_GAME": "secrets", "GITHUB_TOKEN": "secret", **self.HANDED_ON}, "pass_fds": (100,)}
            self.expect(0, "verify", "--untrusted", *arguments, **options)
            self.assertIn("the caller's GITHUB_TOKEN", self.expect(1, "verify", *arguments, **options).stdout)

    def test_identity(self):
        self.verify(GAMES, WRONG_VALUES, "--case", CELL, BACKGAUGE_TEST_GAME="identity")

    def test_no_op(self):
        self.verify("hostile:writes_nothing", "never written", "--case", CELL)

    def test_stale_memory(self):
        self.verify("hostile:drops_nan_of_workspace", "not repeatable", "--tier=smoke", "--ops=BlockLSTMGradV2")

    def test_beyond_the_end(self):
        self.verify("hostile:reads_past_the_end", f"read past the end of|{WRONG_VALUES}", "--case", CELL)

    def test_cache_by_shape(self):
        self.verify("hostile:caches_by_shape", WRONG_VALUES, "--tier=smoke", "--ops=LSTMBlockCellGrad")

    def test_cache_by_address(self):
        self.verify("hostile:caches_by_pointer", WRONG_VALUES, "--tier=smoke", "--ops=LSTMBlockCellGrad")

    def test_expected_result_in_memory(self):
        self.verify("hostile:reads_the_expected_result", WRONG_VALUES, "--case", CELL)

    def test_changed_inputs(self):
        self.verify("hostile:changes_an_input", "changed the input", "--case", CELL)

    def test_zeros_for_small_outputs(self):
        self.verify("hostile:zeros", WRONG_VALUES, "--case", "lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=tiny:0x1")

    def test_leak(self):
        self.verify(GAMES, "BROKEN|memory: run returned out_of_memory", "--tier=smoke", "--ops=LSTMBlockCellGrad", "--memory-limit=256M",
                    BACKGAUGE_TEST_GAME="leak")

    # Precision.
    def test_products_in_tf32(self):
        self.saboteur("J2.block", "BlockLSTMGradV2")

    def test_products_in_bfloat16(self):
        self.saboteur("J1.block", "BlockLSTMGradV2")

    def test_sums_in_half(self):
        self.saboteur("J7.cell", "LSTMBlockCellGrad")

    # Transcription errors.
    def test_tail_not_masked(self):
        self.saboteur("H10.cell", "LSTMBlockCellGrad")

    def test_wrong_neutral_element(self):
        self.saboteur("C5.block", "BlockLSTMGradV2")

    def test_factor_lost(self):
        self.saboteur("A19.cell", "LSTMBlockCellGrad")

    def test_slope_of_another_argument(self):
        self.saboteur("A16.cell", "LSTMBlockCellGrad")

    def test_square_forgotten(self):
        self.saboteur("A17.cell", "LSTMBlockCellGrad")

    def test_square_forgotten_in_a_product(self):
        self.saboteur("A17b.cell", "LSTMBlockCellGrad")

    def test_wrong_constant(self):
        self.saboteur("A24.cell", "LSTMBlockCellGrad")

    def test_assigned_instead_of_added(self):
        self.saboteur("D8.block", "BlockLSTMGradV2")

    def test_scale_lost(self):
        self.saboteur("G19.rnn", "CudnnRNNBackprop")

    def test_carried_value_not_rescaled(self):
        self.saboteur("A21.block", "BlockLSTMGradV2")


class OnAFakeDevice(Patterns):
    def test_stream(self):
        implementation = PLUGINS / "other_stream_on_fake_device.so"
        self.verify(implementation, "FAILED|never written|after the call had returned|not repeatable", "--case", CELL, **FAKE)

    def test_kept_cache_lines(self):
        implementation = PLUGINS / "keeps_cache_lines_on_fake_device.so"
        self.bench(implementation, "1 of 1 workloads timed|MISTRUSTED: not timed: ", "--cache=cold", code=0, **FAKE)
        self.bench(implementation, "FAILED: run returned internal: its cache lines were kept", **FAKE)  # nothing is evicted


@unittest.skipUnless(PYTHON, "backgauge was built without the module _backgauge: ci/install-deps --python")
class InPython(Patterns):
    def kernel(self, wrong, expected, *arguments, code=1, file=CELLS):
        done = self.expect(code, "verify", "--untrusted", "--no-shrink", "--fail-fast", f"--impl={file}", f"--python={PYTHON}", *(arguments or ("--case", CELL)),
                           environment={"BACKGAUGE_TEST_KERNEL": wrong, **self.HANDED_ON})
        self.assertRegex(done.stdout, expected)

    def milliseconds(self, wrong):
        out = self.folder / "run.json"
        self.bench(CELLS, "1 of 1 workloads timed", f"--python={PYTHON}", f"--out={out}", code=0, line=CELL, BACKGAUGE_TEST_KERNEL=wrong)
        return [run["real_time"] for run in json.loads(out.read_text())["benchmarks"] if run.get("aggregate_name") == "median"][0]

    def test_python_lazy(self):
        self.assertGreater(self.milliseconds("is lazy"), 5 * 10)  # five outputs, of 10 ms each

    def test_python_clock(self):
        self.assertGreater(self.milliseconds("patches the clock"), 20)

    def test_python_crash(self):
        self.kernel("crashes", "crash: SIGSEGV in run at address 0x8")

    def test_python_hang(self):
        self.kernel("hangs", "timeout: .*2 s", "--timeout=2s", "--case", CELL)

    def test_python_exit(self):
        self.kernel("exits", "exit: status 7 in run")

    def test_python_leak(self):
        self.kernel("leaks", "memory: |MemoryError", "--tier=smoke", "--memory-limit=512M")

    def test_python_changed_inputs(self):
        self.kernel("writes its input", "h_grad")

    def test_python_kept_outputs(self):
        self.kernel("keeps its outputs", "changed the output dicfo .* after the call had returned")

    def test_python_cache(self):
        self.kernel("answers from a cache", WRONG_VALUES, "--tier=smoke")

    def test_python_files(self):
        self.kernel("looks at files", "summary: 1 passed", code=0)

    def test_library(self):
        self.kernel("", r"untrusted: confined; loads .*openblas", file=NUMPY, code=0)

    def test_ghost_branch(self):
        self.kernel("never optimizes", r"summary: 1 passed.*\nuntrusted: confined; loads .*openblas", code=0)


if __name__ == "__main__":
    unittest.main()
