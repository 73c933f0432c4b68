# SPDX-License-Identifier: Apache-2.0
"""records.jsonl and junit.xml of a whole run."""

import collections
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as xml

from command import VERSION, CommandTest, run

REGRESSION = "lstm_block_cell_grad b1i1h1 peep=0 dt=f32 data=strat:0x1"
COUNTS = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def without_values(line):
    return re.sub(r" (data=\w+:0x\w+|chk=\w+)", "", line)


class Records(CommandTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name)
        regressions = cls.out / "regressions.txt"
        regressions.write_text(REGRESSION + "\n")
        environment = {"BACKGAUGE_REGRESSIONS": str(regressions)}
        cls.done = run("verify", "--tier=smoke", "--jobs=3", f"--out={cls.out / 'a'}", "--impl=plain",
                       environment=environment)
        run("verify", "--tier=smoke", "--jobs=1", f"--out={cls.out / 'b'}", "--impl=plain", environment=environment)
        cls.records = [json.loads(line) for line in (cls.out / "a" / "records.jsonl").read_text().splitlines()]

    def test_form(self):
        self.assertTrue((self.out / "a" / "records.jsonl").read_bytes().endswith(b"}\n"))
        for record in self.records:
            self.assertEqual(record["schema"], "backgauge.record/1")
            self.assertEqual(record["impl"]["name"], "plain")
            self.assertEqual(record["op"], record["id"].split()[0])
            self.assertEqual(record["status"], "PASSED")
            self.assertEqual(len(record["tensors"]) == 0, "data=malformed:" in record["id"])

    def test_one_per_case_in_order(self):
        self.assertIn(f"), {len(self.records)} cases", self.done.stdout)
        ids = [record["id"] for record in self.records[1:] if "data=golden:" not in record["id"]]
        generated = [line for line in ids if "data=malformed:" not in line]
        malformed = collections.Counter((line.split()[0], re.search(r" dt=(\w+)", line)[1]) for line in ids if "data=malformed:" in line)
        self.assertEqual(len(malformed), 8)
        # 200, and one of each kind that is not among them.
        self.assertGreaterEqual(min(malformed.values()), 200)
        self.assertEqual(sum(malformed.values()), 1784)
        # The lines that list has are those that were judged; those that it has of the plan alone, before some were redrawn.
        judged, planned = (run("list", "--cases", "--tier=smoke", *option).stdout.splitlines()
                           for option in ([], ["--as-planned"]))
        chosen = [not re.search(r" drop=0\.\d", line) for line in generated]  # otherwise its own masks decide which values are conclusive
        self.assertGreater(sum(chosen), 1000)
        self.assertEqual([line for line, each in zip(generated, chosen) if each],
                         [line for line, each in zip(judged, chosen) if each])
        self.assertEqual([without_values(line) for line in generated], [without_values(line) for line in planned])
        redrawn = re.search(r"(\d+) cases? redrawn:", self.done.stdout)
        self.assertEqual(sum(a != b for a, b in zip(generated, planned)), int(redrawn[1]) if redrawn else 0)

    def test_regressions_come_first_then_goldens(self):
        self.assertTrue(self.records[0]["id"].startswith(REGRESSION))
        goldens = ["data=golden:" in record["id"] for record in self.records[1:]]
        self.assertGreater(sum(goldens), 40)
        self.assertEqual(goldens, sorted(goldens, reverse=True))

    def test_same_again_with_other_jobs(self):
        again = [json.loads(line) for line in (self.out / "b" / "records.jsonl").read_text().splitlines()]
        for record in self.records + again:
            self.assertGreaterEqual(record.pop("ms"), 0)
        self.assertEqual(self.records, again)

    def test_a_second_run_replaces_the_first(self):
        for _ in range(2):
            self.expect(0, "verify", "--case=lstm_block_cell_grad b1i1h1 dt=f32 data=strat:0x1", f"--out={self.folder}")
            self.assertEqual(len((self.folder / "records.jsonl").read_text().splitlines()), 1)

    def test_junit_counts_match(self):
        root = xml.parse(self.out / "a" / "junit.xml").getroot()
        self.assertEqual(root.tag, "testsuites")
        for node in [root, *root.findall("testsuite")]:
            for attribute, element in COUNTS.items():
                self.assertEqual(int(node.get(attribute)), len(node.findall(f".//{element}")), attribute)
        tests = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
        self.assertEqual(len(set(tests)), len(tests))
        cases = [int(each.get("value")) for each in root.iterfind(".//testcase/properties/property[@name='cases']")]
        self.assertEqual((len(cases), sum(cases)), (len(tests), len(self.records)))
        self.assertIn(("plain.block_lstm_grad_v2", "f16 data=large"), tests)

    def test_junit_says_what_was_judged(self):
        for suite in xml.parse(self.out / "a" / "junit.xml").getroot().findall("testsuite"):
            properties = {each.get("name"): each.get("value") for each in suite.findall("properties/property")}
            self.assertEqual((properties["version"], properties["tier"], properties["seed"]), (VERSION, "smoke", "1"))
            self.assertTrue(properties["implementation"].startswith("plain "), properties)
            self.assertIn("machine", properties)
            self.assertRegex(suite.get("timestamp"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertTrue(suite.get("hostname"))

    def test_junit_stays_small(self):
        # As many tests as there are data profiles for each dtype: a larger tier has more cases, not more tests.
        text = (self.out / "a" / "junit.xml").read_bytes()
        self.assertLess(len(text), 200_000)
        self.assertLess(text.count(b"<testcase "), 150)


if __name__ == "__main__":
    unittest.main()
