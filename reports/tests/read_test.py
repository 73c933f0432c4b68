# SPDX-License-Identifier: Apache-2.0
"""Files to tables: what is read, what is refused."""

import json
import pathlib
import tempfile
import unittest

import numpy as np
from backgauge.case_line import parse_case_line, workload_key
from backgauge.errors import CommandError
from backgauge.quantities import seconds_text, three_digits
from backgauge.records import ratios_of_rows, read_tensor_ratios, records_file
from backgauge.run import read_run
from backgauge.table import table_of
from synthetic import Noise, Synthetic, block_line


class CaseLineTest(unittest.TestCase):
    def test_fields_of_every_op(self):
        cell = parse_case_line("lstm_block_cell_grad b3i5h7 peep=1 dt=f16 data=strat:0x9e37 chk=5b1c")
        self.assertEqual((cell.T, cell.B, cell.I, cell.H, cell.dtype, cell.has_steps), (1, 3, 5, 7, "f16", False))
        self.assertEqual(cell.label, "B3 I5 H7 peep=1")
        rnn = parse_case_line("cudnn_rnn_backprop t7b3i5h4 mode=gru dir=bi layers=2 in=linear drop=0.5 dt=f64 data=x:1")
        self.assertEqual(rnn.label, "T7 B3 I5 H4 mode=gru dir=bi layers=2 drop=0.5")

    def test_only_a_short_seq_is_shown(self):
        self.assertEqual(parse_case_line("block_lstm_grad_v2 t5b1i1h1 order=ifco seq=5 dt=f32").label, "T5 B1 I1 H1")
        self.assertEqual(parse_case_line("block_lstm_grad_v2 t5b1i1h1 order=ifco seq=4 dt=f32").label, "T5 B1 I1 H1 seq=4")

    def test_the_checksum_is_no_part_of_the_workload(self):
        self.assertEqual(workload_key("op b1i1h1 dt=f32 data=strat:0x1 chk=5b1c"), "op b1i1h1 dt=f32 data=strat:0x1")

    def test_refuses_what_is_no_case_line(self):
        for line in ("", "block_lstm_grad_v2", "block_lstm_grad_v2 5x3"):
            with self.assertRaises(ValueError):
                parse_case_line(line)


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.line = block_line("t25b16i512h512")

    def written(self, **options):
        options = {"shares": {"cpu": 0.5, "eigen": 0.25}, "noise": Noise(0, 0, 0, 0, 0)} | options
        return Synthetic([self.line], **options).write(self.folder / "run.json")

    def test_numbers_of_a_row(self):
        row = table_of([read_run(self.written())]).rows[0]
        self.assertEqual((row.implementation, row.suite, row.verdict, row.samples), ("cpu", "nine", "PASSED", 11))
        # 16 * 25 * 16 * 512 * 1024 operations at half of 112 GFLOP/s.
        self.assertAlmostEqual(row.gflops, 56, places=6)
        self.assertAlmostEqual(row.share_of_limit, 0.5, places=9)
        self.assertAlmostEqual(row.seconds, 16 * 25 * 16 * 512 * 1024 / 56e9, places=9)

    def test_repetitions_stand_in_where_there_are_no_samples(self):
        path = self.written()
        path.with_suffix(".samples.jsonl").unlink()
        row = table_of([read_run(path)]).rows[0]
        self.assertEqual(row.samples, 11)
        self.assertAlmostEqual(row.gflops, 56, places=6)

    def test_the_samples_alone_are_a_run(self):
        path = self.written()
        path.unlink()
        run = read_run(path.with_suffix(".samples.jsonl"))
        self.assertEqual(run.implementations, ["cpu", "eigen"])
        self.assertEqual(run.machine_id, "a1b2c3d4e5")

    def test_what_did_not_pass_has_no_time(self):
        for verdict in ("FAILED", "SKIPPED", "BROKEN", "MISTRUSTED"):
            path = self.written(failed={("eigen", self.line): (verdict, "why")})
            rows = {row.implementation: row for row in table_of([read_run(path)]).rows}
            self.assertFalse(rows["eigen"].has_time)
            self.assertEqual((rows["eigen"].verdict, rows["eigen"].reason), (verdict, "why"))
            self.assertTrue(rows["cpu"].has_time)

    def test_unjudged_results_have_a_time_that_is_not_compared(self):
        for with_samples in (True, False):
            path = self.written(unjudged=frozenset(["eigen"]))
            if not with_samples:
                path.with_suffix(".samples.jsonl").unlink()
            rows = {row.implementation: row for row in table_of([read_run(path)]).rows}
            self.assertEqual((rows["eigen"].verdict, rows["eigen"].has_time, rows["eigen"].is_comparable), ("UNJUDGED", True, False))
            self.assertTrue(np.isnan(rows["eigen"].error_over_bound))
            self.assertTrue(rows["cpu"].is_comparable)

    def test_an_unjudged_time_replaces_no_judged_one(self):
        judged = read_run(self.written())
        unjudged = read_run(self.written(unjudged=frozenset(["cpu", "eigen"])))
        for runs, verdict in (([judged, unjudged], "PASSED"), ([unjudged, judged], "PASSED"), ([unjudged], "UNJUDGED")):
            self.assertEqual({row.verdict for row in table_of(runs).rows}, {verdict})

    def test_what_is_mistrusted_is_so_without_samples(self):
        path = self.written()
        path.with_suffix(".samples.jsonl").unlink()
        document = json.loads(path.read_text())
        for entry in document["benchmarks"]:
            entry["mistrusted"] = 1
        path.write_text(json.dumps(document))
        self.assertEqual({(row.verdict, row.has_time) for row in table_of([read_run(path)]).rows}, {("MISTRUSTED", False)})

    def test_a_failure_takes_the_time_away_even_from_samples(self):
        path = self.written()
        self.append(path, {"workload": self.line, "implementation": "cpu", "verdict": "FAILED", "error_over_bound": 3.0})
        self.assertFalse(table_of([read_run(path)]).rows[0].has_time)

    def test_disturbed_samples_do_not_count_unless_most_are(self):
        def of(disturbed_rounds):
            path = self.written()
            samples = path.with_suffix(".samples.jsonl")
            lines = [json.loads(line) for line in samples.read_text().splitlines()]
            for line in lines:
                if line.get("round", 99) < disturbed_rounds:
                    line |= {"disturbed": True, "seconds": 1.0}
            samples.write_text("\n".join(map(json.dumps, lines)))
            return table_of([read_run(path)]).rows[0]

        self.assertLess(of(5).high, 0.1)
        self.assertEqual(of(5).disturbed, 5)
        self.assertEqual(of(6).high, 1.0)

    def append(self, path, entry):
        with path.with_suffix(".samples.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def test_refuses_other_files(self):
        bad = self.folder / "bad.json"
        for text in ("{", "[]", "{}", '{"context": {}, "benchmarks": []}', '{"context": {}, "benchmarks": [{"name": "x"}]}'):
            bad.write_text(text)
            with self.assertRaises(CommandError, msg=text):
                read_run(bad)
        with self.assertRaises(CommandError):
            read_run(self.folder / "absent.json")

    def test_refuses_samples_of_another_schema_and_times_that_are_none(self):
        path = self.written()
        self.append(path, {"workload": self.line, "implementation": "cpu", "round": 1, "seconds": 0.0})
        with self.assertRaises(CommandError):
            read_run(path)
        path.with_suffix(".samples.jsonl").write_text('{"schema": "other/1"}\n')
        with self.assertRaises(CommandError):
            read_run(path)

    def test_of_two_runs_in_one_setting_the_last_counts(self):
        first = read_run(self.written())
        second = read_run(self.written(shares={"cpu": 0.75}))
        rows = table_of([first, second]).rows
        self.assertEqual([round(row.share_of_limit, 6) for row in rows], [0.75, 0.25])


class RecordsTest(unittest.TestCase):
    def test_worst_ratio_of_each_tensor(self):
        def record(line, ratio):
            return {"schema": "backgauge.record/1", "id": line, "impl": {"name": "cpu"}, "status": "PASSED",
                    "tensors": {"x_grad": {"max_ratio": ratio}, "b_grad": {"max_ratio": 0.1}}}

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "records.jsonl"
            path.write_text("\n".join(json.dumps(record(block_line("t5b3i5h7"), ratio)) for ratio in (0.3, "inf", 0.4)))
            self.assertEqual(records_file(folder), path)
            ratios = read_tensor_ratios(path)
        self.assertEqual([(r.tensor, r.ratio, r.cases) for r in ratios], [("x_grad", np.inf, 3), ("b_grad", 0.1, 3)])

    def test_worst_ratio_inside_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = [block_line("t5b3i5h7"), block_line("t6b3i5h7")]
            path = Synthetic(lines, shares={"cpu": 0.5}).write(pathlib.Path(folder) / "run.json")
            rows = table_of([read_run(path)]).rows
        ratios = {ratio.tensor: ratio for ratio in ratios_of_rows(rows)}
        self.assertEqual(ratios["x_grad"].ratio, max(row.tensors["x_grad"] for row in rows))
        self.assertEqual(ratios["x_grad"].cases, 2)


class QuantitiesTest(unittest.TestCase):
    def test_three_digits_and_a_unit(self):
        self.assertEqual([seconds_text(value) for value in (2.0, 0.0271, 1.5e-5, 4e-9, float("nan"))],
                         ["2.00 s", "27.1 ms", "15.0 us", "4.00 ns", "-"])
        self.assertEqual([three_digits(value) for value in (1234, 99.96, 9.996, 0.5, 0.00123, 0, float("inf"))],
                         ["1234", "100", "10.0", "0.5", "0.00123", "0", "inf"])


if __name__ == "__main__":
    unittest.main()
