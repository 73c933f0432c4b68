# SPDX-License-Identifier: Apache-2.0
"""Runs the backgauge command for the tests; CMakeLists.txt gives the paths in the environment."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

COMMAND = os.environ["BACKGAUGE_COMMAND"]
PLUGINS = pathlib.Path(os.environ["BACKGAUGE_TEST_PLUGINS"])
C_PLUGINS = pathlib.Path(os.environ["BACKGAUGE_TEST_C_PLUGINS"])
PLAIN = os.environ["BACKGAUGE_TEST_PLAIN"]
VERSION = os.environ["BACKGAUGE_TEST_VERSION"]
SANITIZED = os.environ["BACKGAUGE_TEST_SANITIZE"] != ""

CELL = "lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37"

# Settings of the user must not influence the tests.
SETTINGS = ("IMPL", "OPS", "TIER", "SEED", "OUT", "JOBS", "THREADS", "ISOLATE", "TIMEOUT", "MEMORY_LIMIT", "GOLDENS",
            "SHARD", "MAX_TIME", "HISTORY", "DATABASE", "REGRESSIONS", "WAIVERS", "SUITE", "REPS", "CACHE", "SHAPES", "ADAPTERS", "PEERS_HOME", "CUDART", "CUBLASLT",
            "PYTHON", "VARIABLES")
SHARDS = ("GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
          "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "CI_NODE_INDEX", "CI_NODE_TOTAL")
ENVIRONMENT = {key: value for key, value in os.environ.items()
               if key not in (*SHARDS, "PYTHONUNBUFFERED") and key not in ["BACKGAUGE_" + word for word in SETTINGS]}


# The progress lines of runs longer than ten seconds; on a busy machine any run may be.
HEARTBEAT = re.compile(r"^backgauge: \[\d+/\d+\] .*\n", re.MULTILINE)


def run(*arguments, environment=(), **options):
    """The finished process, with its output as text, heartbeats left out."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, env={**ENVIRONMENT, **dict(environment)}, **options)
    done.stderr = HEARTBEAT.sub("", done.stderr)
    return done


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def expect(self, exit_code, *arguments, **options):
        """Runs the command; its exit code must be `exit_code`, and stderr must be empty unless that is an error."""
        done = run(*arguments, **options)
        shown = f"backgauge {' '.join(map(str, arguments))}\n{done.stdout}\n{done.stderr}"
        self.assertEqual(done.returncode, exit_code, shown)
        if exit_code in (0, 1, 5):
            self.assertEqual(done.stderr, "", shown)
        return done

    def expect_complaint(self, exit_code, word, *arguments, **options):
        """The same for a command that must refuse: stderr says so and contains `word`, and stdout is empty."""
        done = self.expect(exit_code, *arguments, **options)
        self.assertTrue(done.stderr.startswith("backgauge: "), done.stderr)
        self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")
        return done
