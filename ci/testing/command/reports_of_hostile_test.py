# SPDX-License-Identifier: Apache-2.0
"""Whatever an implementation prints, names itself or writes into messages: junit.xml, records.jsonl and the list stay
readable, nothing of it reaches a terminal raw, and the fault is never the harness's."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

from command import CELL, SANITIZED, CommandTest, run

SOURCE = pathlib.Path(__file__).resolve().parents[3]
LINES = [CELL, "cudnn_rnn_backprop t3b2i3h4 mode=lstm dir=uni layers=2 in=linear drop=0.5 dt=f32 data=strat:0x1",
         "lstm_block_cell_grad b1i1h1 dt=f32 data=malformed:0x1"]
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd]")


def hostile_ids():
    ids = []
    for file in (SOURCE / "properties" / "saboteurs" / "hostile").glob("*.cc"):
        ids += re.findall(r'^\s+\{(?:\.id = )?"([a-z_0-9]+)",', file.read_text(), re.MULTILINE)
    return sorted(ids)


class Reports(CommandTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name)
        cases = [word for line in LINES for word in ("--case", line)]
        # Sanitizers reserve terabytes of addresses: there one that allocates is not run; hostile_test says so too.
        cls.ids = [name for name in hostile_ids() if not (SANITIZED and name == "allocates")]
        cls.done = {name: run("verify", f"--impl=hostile:{name}", "--isolate=on", "--timeout=2s", "--memory-limit=1G",
                              "--no-shrink", "--jobs=1", *cases, f"--out={cls.out / name}") for name in cls.ids}

    def test_of_every_hostile_implementation(self):
        self.assertGreaterEqual(len(self.ids), 57)
        for name in self.ids:
            with self.subTest(hostile=name):
                self.check(name, self.done[name])

    @unittest.skipUnless(shutil.which("xmllint"), "xmllint is not installed: only Python has read junit.xml")
    def test_xmllint_accepts_them(self):
        files = [self.out / name / "junit.xml" for name in self.ids]
        done = subprocess.run(["xmllint", "--noout", *files], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def check(self, name, done):
        out = self.out / name
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        self.assertNotRegex(done.stdout + done.stderr, RAW)
        self.assertNotIn("harness", done.stdout)
        records = [json.loads(line) for line in (out / "records.jsonl").read_bytes().splitlines()]
        self.assertEqual(len(records), len(LINES))
        self.assertNotRegex("".join(record.get("reason", "") + record["impl"]["name"] for record in records), RAW)
        root = xml.parse(out / "junit.xml").getroot()
        self.assertEqual(len(list(root.iter("testcase"))), len(LINES))
        json.loads((out / "run.json").read_bytes())

    def test_of_names_and_versions(self):
        implementation = "--impl=hostile:calls_itself_escapes"
        listed = json.loads(self.expect(0, "list", implementation, "--format=json").stdout)
        self.assertIn("\\x1b[2J", listed["implementations"][0]["name"])
        self.assertNotRegex(self.expect(0, "list", implementation).stdout, RAW)
        done = self.expect(1, "repro", CELL, implementation)
        self.assertNotRegex(done.stdout, RAW)


if __name__ == "__main__":
    unittest.main()
