# SPDX-License-Identifier: Apache-2.0
"""The warnings of the page before its numbers; and no number says more than was measured."""

import datetime
import json
import pathlib
import tempfile
import unittest

from backgauge import quantities
from backgauge.report import cells, doubts, page, summary
from backgauge.report.charts.chart import medians_text
from backgauge.report.sources import read_material
from backgauge.verification import read_verified_run
from synthetic import DEVICE, Synthetic, block_line

LINES = [block_line(dims) for dims in ("t25b16i512h512", "t25b64i512h512", "t50b32i256h256")]
SHARES = {"cpu": 0.9, "onednn": 0.8}
NOW = datetime.datetime(2026, 11, 24, 12, tzinfo=datetime.UTC)
GOOD = {"date": "2026-11-24T10:00:00+00:00", "workloads_planned": "3", "ended": "complete"}


class RunCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def material(self, context=(), **options):
        run = Synthetic(LINES, shares=options.pop("shares", SHARES), context={**GOOD, **dict(context)}, **options)
        return read_material([run.write(self.folder / "run.json")], None)


class DoubtsTest(RunCase):
    def words(self, material):
        """The words of the doubts; all of them are on the page and in the summary."""
        found = doubts.doubts(material, NOW)
        texts = page.html(material, [], "title", NOW), summary.markdown(material, [], "title", NOW)
        for doubt in found:
            self.assertIn(f"<strong>{doubt.word}</strong>", texts[0])
            self.assertIn(f"**{doubt.word}**: ", texts[1])
        return {doubt.word: doubt.text for doubt in found}

    def test_a_good_run_has_none(self):
        self.assertEqual(self.words(self.material()), {})

    def test_a_failed_run(self):
        found = self.words(self.material(failed={("onednn", LINES[1]): ("FAILED", "x_grad is wrong"), ("onednn", LINES[2]): ("BROKEN", "crashed")}))
        self.assertEqual(list(found), ["FAILED"])
        self.assertIn("2 of 6 results of bench wrong, and without a time: onednn. The first: onednn: BlockLSTMGradV2 T25 B64", found["FAILED"])
        self.assertIn("FAILED x_grad is wrong", found["FAILED"])

    def test_a_time_beyond_its_limit_has_its_reason(self):
        material = self.material(shares={"cuda": 1.2, "cpu": 0.9}, on_device=frozenset({"cuda"}), context=DEVICE)
        self.assertRegex(self.words(material)["BEYOND THE LIMIT"], r"3 times of more than 100 %.* cuda: .*\. The limit is slow\.$")

    def test_the_facts_of_a_device_are_those_of_its_setting(self):
        material = self.material(shares={"cuda": 0.7, "cpu": 0.9}, on_device=frozenset({"cuda"}), context=DEVICE)
        facts = {setting.device: dict(page.facts(run, setting)) for setting, run in material.table.contexts.items()}
        self.assertEqual(set(facts), {"", "Synthetic GPU"})
        self.assertEqual(facts["Synthetic GPU"]["multiprocessors"], "132")
        self.assertEqual(facts["Synthetic GPU"]["driver"], "580.1")
        self.assertIn("products in float16", facts["Synthetic GPU"])
        self.assertNotIn("FMA limit", facts["Synthetic GPU"])
        self.assertNotIn("products in float16", facts[""])

    def test_a_noisy_run(self):
        material = self.material(disturbed=True)
        self.assertIn("66 of 66 samples disturbed", self.words(material)["NOISY"])
        self.assertNotIn("undisturbed", medians_text(material.timed))
        self.assertTrue(all(cells.time_text(row).endswith(" †") for row in material.timed))
        self.assertIn("differed by 92 %", self.words(self.material({"noise_aa": "0.9236"}))["NOISY"])
        self.assertIn("differed by 2.3 %", self.words(self.material({"noise_aa": "0.023"}))["NOISY"])
        self.assertEqual(self.words(self.material({"noise_aa": "0.0199"})), {})

    def test_a_partial_run(self):
        for ended, why in (("max-time", "--max-time was reached"), ("interrupted", "was interrupted")):
            found = self.words(self.material({"workloads_planned": "9", "ended": ended}))
            self.assertIn("3 of 9 workloads run; ", found["PARTIAL"])
            self.assertIn(why, found["PARTIAL"])
        skipped = {("onednn", LINES[0]): ("SKIPPED", "81 GFLOP, more than --max-work=60")}
        self.assertIn("1 of 6 results skipped: 81 GFLOP, more than --max-work=60.", self.words(self.material(failed=skipped))["PARTIAL"])
        late = self.material(failed={("cpu", LINES[2]): ("PASSED", "")})
        self.assertIn("no time was left for 1 of 6 results", self.words(late)["PARTIAL"])
        self.assertIn("PASSED: no time was left to time it", summary.markdown(late, [], "title", NOW))

    def test_a_killed_run_left_samples_alone(self):
        context = {"date": GOOD["date"], "workloads_planned": "5"}  # why it ended is only known at the end
        path = Synthetic(LINES, shares=SHARES, context=context).write(self.folder / "run.json")
        path.unlink()
        found = self.words(read_material([path.with_suffix(".samples.jsonl")], None))
        self.assertIn("3 of 5 workloads run; it did not reach its end", found["PARTIAL"])

    def test_an_old_run(self):
        found = self.words(self.material({"date": "2026-10-01T10:00:00+00:00"}))
        self.assertEqual(found, {"OLD": "run is of 2026-10-01, 54 days before this page was made."})
        self.assertEqual(self.words(self.material({"date": "2026-10-26T10:00:00+00:00"})), {})
        self.assertIn("measured 2026-11-24, page made 2026-11-24", page.html(self.material(), [], "title", NOW))

    def test_what_cannot_be_believed(self):
        found = self.words(self.material(failed={("onednn", LINES[1]): ("IMPLAUSIBLE", "0.001 us, but ...")}))
        self.assertIn("1 time shorter than this machine allows", found["IMPLAUSIBLE"])
        material = self.material(shares={"cpu": 1.22, "onednn": 0.8})
        self.assertIn("3 times of more than 100 % of the measured limit", self.words(material)["BEYOND THE LIMIT"])
        marked = {row.implementation for row in material.table.rows if cells.share_text(row).endswith(" ‡")}
        self.assertEqual(marked, {"cpu"})

    def test_a_part_of_a_verification(self):
        shard = self.folder / "shard"
        shard.mkdir()
        (shard / "records.jsonl").write_text('{"schema":"backgauge.record/1"}\n')
        (shard / "summary.json").write_text(json.dumps({
            "schema": "backgauge.verification/1", "kinds": [], "verdict": {"word": "INCOMPLETE", "text": "this is shard 1/2"},
            "run": {"implementation": "mine", "implementation_version": "1", "finished": "2026-01-01T00:00:00Z"}}))
        run = read_verified_run(shard)
        self.assertEqual((run.color, run.date.year), ("unsure", 2026))


class SpreadTest(RunCase):
    def test_quartiles_come_from_the_file(self):
        path = Synthetic(LINES[:1], shares={"cpu": 0.9}, rounds=1, context=GOOD).write(self.folder / "kept.json")
        path.with_suffix(".samples.jsonl").unlink()
        report = json.loads(path.read_text())
        entry = report["benchmarks"][0]
        entry |= {"real_time": 16.4, "quartiles": [16.0, 18.6], "samples": 7, "disturbed": 5}
        report["benchmarks"] = [entry]
        path.write_text(json.dumps(report))
        row, = read_material([path], None).table.rows
        self.assertAlmostEqual(row.low, 0.016)
        self.assertEqual((row.samples, row.disturbed, row.is_quiet), (7, 5, False))
        shown = {heading: cell(row)[0] for heading, _, cell in cells.COLUMNS}
        self.assertEqual((shown["spread"], shown["samples"]), ("16 %", "7 (5 disturbed)"))
        self.assertEqual(shown["time"], "16.4 ms †")  # 2.6 ms between quartiles of 7: 0.9 ms

    def test_one_sample_has_no_spread(self):
        path = Synthetic(LINES[:1], shares={"cpu": 0.9}, rounds=1, context=GOOD).write(self.folder / "one.json")
        row, = read_material([path], None).table.rows
        self.assertEqual({heading: cell(row)[0] for heading, _, cell in cells.COLUMNS}["spread"], "-")

    def test_numbers_end_where_they_are_uncertain(self):
        for uncertainty, text in ((0, "26.9 ms"), (0.001, "26.9 ms"), (0.06, "27 ms"), (0.92, "30 ms"), (50, "30 ms")):
            self.assertEqual(quantities.seconds_text(0.026914, uncertainty), text)
        self.assertEqual([quantities.ratio_text(1.2345, u) for u in (0, 0.0003, 0.003, 0.03, 0.5)], ["1.234", "1.234", "1.234", "1.23", "1.2"])
        self.assertEqual([quantities.percent_text(1.2242, u) for u in (0, 0.2, 0.9)], ["122 %", "120 %", "100 %"])

    def test_a_noisy_machine_gets_few_digits(self):
        row, *_ = self.material({"noise_aa": "0.92"}).timed
        self.assertRegex(cells.time_text(row), r"^\d0* m?s$")


if __name__ == "__main__":
    unittest.main()
