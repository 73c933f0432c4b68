# SPDX-License-Identifier: Apache-2.0
"""`backgauge campaign` records what one `backgauge verify` records, and judges no case twice, whichever processes are killed."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from backgauge import errors
from campaign_cluster import LoopbackCluster, free_port

COMMAND = os.environ["BACKGAUGE_COMMAND"]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")} | {"BACKGAUGE_PYTHON": sys.executable}
SMOKE = ("--tier=smoke", "--ops=lstm_block_cell_grad")
# Writes down what it is asked for and what it answers.
WITNESS = """#!/bin/sh
case "$1" in batches) ;; *) exec {command} "$@" ;; esac
tee -p -a {folder}/asked.$$ | {command} "$@" | tee -p -a {folder}/answered.$$
"""


def records(folder):
    """The records in a folder in their order, without timings."""
    out = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    return [{key: value for key, value in record.items() if key != "ms"} for record in out]


class CampaignCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"
        self.witness = self.folder / "witness"
        self.witness.write_text(WITNESS.format(command=COMMAND, folder=self.folder))
        self.witness.chmod(0o755)
        self.environment = ENVIRONMENT | {"BACKGAUGE_COMMAND": str(self.witness), "DASK_TEMPORARY_DIRECTORY": str(self.folder / "scratch")}

    def start(self, *options):
        """The campaign in a process, of its own session, so that a signal to it is a signal to nothing else."""
        return subprocess.Popen([sys.executable, "-m", "backgauge.campaign", f"--out={self.out}", *options], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment, start_new_session=True)

    def expect(self, code, process):
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, out + err)
        self.assertNotIn("Traceback", err)
        return out, "".join(line for line in err.splitlines(keepends=True) if not line.startswith("backgauge: ["))

    def verify(self, code, seed, *options):
        """The folder of one verify."""
        folder = self.folder / f"verified-{seed}"
        done = subprocess.run([COMMAND, "verify", f"--out={folder}", f"--seed={seed}", *options], env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return folder

    def wait_for(self, batches, process):
        """Until so many are recorded."""
        deadline = time.monotonic() + 120
        while len(list(self.out.glob("seed-1/batches/*.jsonl"))) < batches:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll(), "the campaign was too fast")
            time.sleep(0.005)

    def judged(self):
        """How many cases the processes have judged, when all of them have come to the end of their batches."""
        deadline = time.monotonic() + 60
        while True:
            asked = [request["batch"] for request in self.written("asked") if "batch" in request]
            answered = [answer for answer in self.written("answered") if "kept" in answer]
            if len(asked) == len(answered):
                return sum(len(batch["lines"]) for batch in asked) - sum(answer["kept"] for answer in answered)
            self.assertLess(time.monotonic(), deadline, "a process has not come to the end of its batch")
            time.sleep(0.1)

    def written(self, name):
        """The complete lines of the witness."""
        for file in self.folder.glob(f"{name}.*"):
            yield from (json.loads(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n"))


class OnACluster(CampaignCase):
    def setUp(self):
        super().setUp()
        self.cluster = LoopbackCluster(self.folder, self.environment)
        self.addCleanup(self.cluster.stop)

    def test_dead_workers_and_a_new_scheduler_change_nothing(self):
        library = self.folder / "mine.so"
        shutil.copy(os.environ["BACKGAUGE_TEST_PLAIN"], library)
        first = self.cluster.start_worker()
        self.cluster.start_worker()
        campaign = self.start(f"--scheduler={self.cluster.address}", "--batch=60", f"--impl={library}", *SMOKE)
        self.wait_for(2, campaign)
        self.cluster.kill(first)
        second = self.cluster.start_worker()
        self.wait_for(5, campaign)
        self.cluster.kill(second)
        self.cluster.start_worker()
        self.wait_for(8, campaign)
        self.cluster.kill(self.cluster.scheduler)
        self.cluster.start_scheduler()
        for _ in range(2):
            self.cluster.start_worker()
        out, err = self.expect(errors.GOOD, campaign)
        self.assertEqual(err, "")
        whole = records(self.verify(errors.GOOD, 1, f"--impl={library}", *SMOKE))
        self.assertEqual(records(self.out / "seed-1"), whole)
        self.assertEqual(self.judged(), len(whole))
        self.assertIn(f"**PASSED**: {len(whole)} cases of tier smoke, 1 seed", out)
        self.assertFalse((self.out / "seed-1" / "batches").exists())
        self.assertTrue(all((self.out / "seed-1" / name).exists() for name in ("index.html", "summary.md", "junit.xml")))
        sent, = self.folder.glob("*/backgauge/files/*/mine.so")
        self.assertEqual(sent.read_bytes(), library.read_bytes())
        self.assertEqual(list(self.folder.glob("*/backgauge/*/*.jsonl")), [])

    def test_a_worker_with_another_build_is_refused(self):
        other = self.folder / "backgauge"
        other.write_bytes(pathlib.Path(COMMAND).read_bytes() + b"\n")
        other.chmod(0o755)
        self.cluster.environment = self.environment | {"BACKGAUGE_COMMAND": str(other)}
        self.cluster.start_worker()
        _, err = self.expect(errors.USAGE, self.start(f"--scheduler={self.cluster.address}", *SMOKE))
        self.assertRegex(err, r"^backgauge: a worker cannot judge: build of backgauge [0-9a-f]{16}, the campaign has [0-9a-f]{16}: "
                              r"all machines need the same build of backgauge\n$")


class OnThisMachine(CampaignCase):
    FAULT = "--impl=saboteur:A21.cell"

    def test_killed_resumed_and_of_two_seeds(self):
        options = ["--local=2", "--batch=60", "--cases=1500", self.FAULT, *SMOKE]
        campaign = self.start(*options)
        self.wait_for(3, campaign)
        os.kill(campaign.pid, signal.SIGKILL)
        campaign.communicate()
        _, err = self.expect(errors.USAGE, self.start(*options))
        self.assertEqual(err, f"backgauge: --out={self.out}: holds a campaign; --resume goes on with it\n")
        _, err = self.expect(errors.USAGE, self.start(*options, "--resume", "--seed=7"))
        self.assertEqual(err, f"backgauge: --resume: {self.out} holds another campaign: seed 1, here 7\n")
        out, err = self.expect(errors.FAILED, self.start(*options, "--resume"))
        self.assertEqual(err, "")
        total = 0
        for seed in (1, 2):
            verified = self.verify(errors.FAILED, seed, self.FAULT, *SMOKE)
            self.assertEqual(records(self.out / f"seed-{seed}"), records(verified))
            total += len(records(verified))
            shrunk = [json.loads((folder / "shrunk.jsonl").read_text().partition("\n")[0])["id"] for folder in (verified, self.out / f"seed-{seed}")]
            self.assertEqual(*shrunk)
        self.assertEqual(self.judged(), total)
        self.assertIn(f"**FAILED**: {total} cases of tier smoke, 2 seeds", out)
        # What is finished is not judged again, and says the same.
        again, _ = self.expect(errors.FAILED, self.start(*options, "--resume"))
        self.assertEqual(self.judged(), total)
        self.assertEqual(again, (self.out / "summary.md").read_text())

    def test_what_cannot_be(self):
        self.environment["BACKGAUGE_COMMAND"] = COMMAND
        for code, word, options in [
            (errors.USAGE, "--cases: 1.5: expected a number of cases", ["--cases=1.5"]),
            (errors.USAGE, "--local: 0: expected a whole number above 0", ["--local=0"]),
            (errors.USAGE, "not allowed with argument", ["--local=1", "--scheduler=tcp://127.0.0.1:1"]),
            (errors.USAGE, "--scheduler: nowhere://x: expected an address", ["--scheduler=nowhere://x"]),
            (errors.USAGE, "unknown op \"lstm\"", ["--ops=lstm"]),
            (errors.NOT_LOADED, "nosuch", ["--impl=nosuch"]),
            (errors.NOT_LOADED, "no scheduler has answered", [f"--scheduler=tcp://127.0.0.1:{free_port()}"]),
        ]:
            with self.subTest(options):
                self.out = self.folder / str(len(list(self.folder.iterdir())))
                out, err = self.expect(code, self.start(*options))
                self.assertEqual(out, "")
                self.assertIn(word, err)
                self.assertRegex(err, r"^backgauge: ")

    def test_what_the_environment_cannot_say(self):
        for name, value, what in [("THREADS", "two", "a whole number above 0"), ("SEED", "-1", "a whole number below 2^64"), ("TIER", "all", "smoke, ci or full")]:
            with self.subTest(name):
                self.environment = {**ENVIRONMENT, f"BACKGAUGE_{name}": value}
                _, err = self.expect(errors.USAGE, self.start())
                self.assertIn(f"--{name.lower()}: {value}: expected {what}", err)


class Requests(CampaignCase):
    """`backgauge batches`, by which the coordinator and a worker speak."""

    BATCH = {"tier": "ci", "seed": 1, "cases": 9, "digest": "0", "index": 3, "lines": ["lstm_block_cell_grad b1i1h1 dt=f32 data=strat:0x1"]}

    def ask(self, request):
        return subprocess.run([COMMAND, "batches", "--impl=plain"], input=request + "\n", env=ENVIRONMENT, capture_output=True, text=True)

    def test_a_batch_is_judged_once(self):
        request = json.dumps({"batch": self.BATCH, "file": str(self.folder / "records.jsonl")})
        self.assertEqual(self.ask(request).stdout.splitlines()[1], '{"kept":0,"failed":0}')
        with (self.folder / "records.jsonl").open("a") as file:
            file.write('{"id": "the beginning of')
        self.assertEqual(self.ask(request).stdout.splitlines()[1], '{"kept":1,"failed":0}')
        record, = records(self.folder)
        self.assertEqual((record["status"], record["plan"]["index"]), ("PASSED", 3))

    def test_wrong_requests(self):
        here = str(self.folder / "file")
        for request, word in [("{", "batches: not a request: "), ("{}", "not a request: "), ('{"tier": "ci", "seed": -1, "ops": "", "work": 1}', "-1 is not"),
                              ('{"tier": "all", "seed": 1, "ops": "", "work": 1}', "--tier=all: expected smoke, ci or full"),
                              (json.dumps({"batch": self.BATCH | {"index": 9}, "file": here}), "not a batch: 1 case from 9 on, of 9"),
                              (json.dumps({"batch": self.BATCH | {"lines": ["x"]}, "file": here}), "x: "),
                              (json.dumps({"batch": self.BATCH, "file": str(self.folder / "none" / "file")}), "No such file")]:
            with self.subTest(request):
                done = self.ask(request)
                self.assertIn(done.returncode, (errors.USAGE, errors.SELF_CHECK))
                self.assertRegex(done.stderr, r"^backgauge: [^\n]*\n$")
                self.assertIn(word, done.stderr)
                self.assertEqual(len(done.stdout.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
