# SPDX-License-Identifier: Apache-2.0
"""Files that are wrong somewhere: every value of a run and of a record in turn becomes another. Both commands answer with
their result or with one line, never with a traceback."""

import contextlib
import copy
import csv
import io
import json
import math
import pathlib
import tempfile
import unittest
from time import monotonic

from backgauge import errors, reading
from backgauge.compare import __main__ as compare
from backgauge.errors import CommandError
from backgauge.report import __main__ as report
from synthetic import Noise, Synthetic, block_line

LINE = block_line("t25b16i512h512")
RECORD = {"schema": "backgauge.record/1", "id": LINE, "impl": {"name": "mine", "version": "1"}, "verdict": "PASSED",
          "tensors": {"x_grad": {"max_ratio": 0.5, "index": [0]}}}
ODD = [None, 0, -1, 10**400, math.nan, math.inf, "", "x", "0", True, [], [[]], {}, {"a": []}]
DEEP = "[" * 100_000


class Formulas(unittest.TestCase):
    def test_no_cell_of_the_table_is_a_formula(self):
        formulas = ["=HYPERLINK(1)", "+1+cmd|'calc'!A0", "-2+3", "@SUM(1)", " =1", "\t=1", "\n@x", '"=1"', "plain"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run = Synthetic([LINE], shares=dict.fromkeys(formulas, 0.5), rounds=3, failed={("@SUM(1)", LINE): ("FAILED", "=1+1")},
                            context={"machine_id": "=1"}).write(folder / "run.json")
            with contextlib.redirect_stdout(io.StringIO()):
                report.main([str(run), f"--out={folder / 'out'}", "--format=csv"])
            with (folder / "out" / "table.csv").open(newline="") as file:
                head, *rows = csv.reader(file)
        self.assertEqual(len(rows), len(formulas))
        names = [row[head.index("implementation")] for row in rows]
        self.assertEqual(sorted(names), sorted(f"'{name}" if name.lstrip()[0] in "=+-@" else name for name in formulas))
        for row in rows:
            for cell in row:
                self.assertNotIn(cell.lstrip()[:1], ("=", "+", "-", "@") if cell else ("x",), row)
        self.assertTrue(all(float(row[head.index("seconds")]) > 0 for row in rows if row[head.index("verdict")] != "FAILED"))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.run_file = Synthetic([LINE], shares={"cpu": 0.5, "eigen": 0.25}, rounds=3,
                                  noise=Noise(0, 0, 0, 0, 0)).write(self.folder / "run.json")
        self.samples_file = self.run_file.with_suffix(".samples.jsonl")

    def answer(self, command, *arguments):
        """Exit code and stderr; fails where it is anything but a result or one line with a documented code."""
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            with self.assertRaises(SystemExit) as left:
                errors.run_command(lambda _: command.main([str(argument) for argument in arguments]))
        code, text = left.exception.code, said.getvalue()
        self.assertIn(code, (errors.GOOD, errors.USAGE), text)
        self.assertEqual(text.count("\n"), 0 if code == errors.GOOD else 1, text)
        self.assertLess(len(text), 600, text)
        return code, text

    def both(self, path):
        report_said = self.answer(report, path, f"--out={self.folder / 'out'}", "--format=md,csv")
        return [report_said, self.answer(compare, path)]

    def refused(self, path, word):
        for code, text in self.both(path):
            self.assertEqual(code, errors.USAGE)
            self.assertIn(word, text)
            self.assertIn(path.name, text)


def leaves(value, path=()):
    """Paths of all values inside of a JSON value, itself included."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    value = copy.deepcopy(value)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return value


def without(value, path):
    value = copy.deepcopy(value)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return value


class WrongFilesTest(Files):
    def test_every_value_of_a_report(self):
        self.samples_file.unlink()
        document = json.loads(self.run_file.read_text())
        document["benchmarks"] = document["benchmarks"][:2]
        self.every_value(document, lambda changed: self.run_file.write_text(json.dumps(changed)), self.run_file)

    def test_every_value_of_the_samples(self):
        self.run_file.unlink()
        head, first, *_, last = [json.loads(line) for line in self.samples_file.read_text().splitlines()]
        self.every_value([head, first, last], lambda changed: self.samples_file.write_text(
            "".join(json.dumps(line) + "\n" for line in changed) if isinstance(changed, list) else json.dumps(changed)),
            self.samples_file)

    def test_every_value_of_a_record(self):
        records = self.folder / "records.jsonl"
        for path in leaves(RECORD):
            for odd in ODD:
                with self.subTest(path=path, odd=odd):
                    records.write_text(json.dumps(replaced(RECORD, path, odd)) + "\n")
                    self.answer(report, records, f"--out={self.folder / 'out'}", "--format=md")

    def every_value(self, document, write, path):
        count = 0
        for leaf in leaves(document):
            changes = [replaced(document, leaf, odd) for odd in ODD] + ([without(document, leaf)] if leaf else [])
            for changed in changes:
                with self.subTest(leaf=leaf):
                    write(changed)
                    self.both(path)
                    count += 1
        self.assertGreater(count, 300)

    def test_no_utf8(self):
        self.run_file.write_bytes(b"{" + b"\xff" * 20_000)
        self.refused(self.run_file, "UTF-8")
        self.samples_file.write_bytes(b"\x80" * 20_000)
        self.run_file.unlink()
        self.refused(self.samples_file, "UTF-8")

    def test_deep_json(self):
        for text in (DEEP, '{"context": ' + DEEP, '{"benchmarks":' * 50_000):
            self.run_file.write_text(text)
            self.refused(self.run_file, "not a run of backgauge bench")

    def test_times_that_cannot_be(self):
        document = json.loads(self.run_file.read_text())
        self.samples_file.unlink()
        for time in (0, -1.5, math.nan, math.inf):
            document["benchmarks"][0]["real_time"] = time
            self.run_file.write_text(json.dumps(document))
            self.refused(self.run_file, "real_time: expected a number above 0")

    def test_what_is_missing_is_named(self):
        self.samples_file.unlink()
        self.run_file.write_text('{"benchmarks": []}')
        self.refused(self.run_file, '"context" is missing')

    def test_folders_and_nothing(self):
        folder = self.folder / "folder.json"
        folder.mkdir()
        self.assertIn("cannot be read", self.answer(compare, folder)[1])
        self.assertIn("cannot be read", self.answer(compare, self.run_file, folder)[1])
        self.assertEqual(self.answer(report, folder, f"--out={self.folder / 'out'}")[0], errors.USAGE)
        self.run_file.write_text("")
        self.refused(self.run_file, "not JSON")


class LimitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "file"

    def refused(self, text, word):
        with self.assertRaises(ValueError) as caught:
            reading.parse_object(text)
        self.assertIn(word, str(caught.exception))

    def refused_as_toml(self, text, word):
        self.file.write_text(text)
        begin = monotonic()
        with self.assertRaises(CommandError) as caught:
            reading.read_toml(self.file)
        self.assertLess(monotonic() - begin, 10)
        self.assertRegex(str(caught.exception), rf"^{self.file}: [^\n]*{word}[^\n]*$")

    def test_json_of_limited_depth(self):
        for depth in (65, 500, 100_000):
            self.refused('{"a":' * depth + "1" + "}" * depth, "nested more than 64 deep")
            self.refused('{"a": ' + "[" * depth, "nested more than 64 deep")
        self.assertEqual(len(reading.parse_object('{"a": ' + "[" * 63 + "]" * 63 + ', "b": "' + "[" * 99 + '\\"]"}')), 2)

    def test_json_with_many_brackets_that_is_not_deep(self):
        value = {"rows": [{"a": [1, 2]} for _ in range(100)]}
        self.assertEqual(reading.parse_object(json.dumps(value)), value)

    def test_text_that_no_file_or_database_can_hold(self):
        for text in ('{"a": "\\ud800"}', '{"\\udfff": 1}', '{"a": [{"b": "x\\u0000"}]}'):
            self.refused(text, "expected text of Unicode characters without NUL")
        self.assertEqual(reading.parse_object('{"a": "\\ud83d\\ude00 \\\\u0000"}')["a"], "\U0001f600 \\u0000")

    def test_files_of_limited_size(self):
        self.file.write_text("12345")
        self.assertEqual(reading.read_text(self.file, 5), "12345")
        with self.assertRaisesRegex(CommandError, "expected at most 4 bytes, got more"):
            reading.read_text(self.file, 4)
        with self.assertRaisesRegex(CommandError, "/dev/zero: expected at most 1000 bytes, got more"):
            reading.read_text("/dev/zero", 1000)

    def test_toml_that_takes_minutes_or_the_stack(self):
        self.refused_as_toml("a." * 32_000 + "b = 1", "a key of more than 64 parts")
        self.refused_as_toml('"a b" . ' * 8_000 + "b = 1", "a key of more than 64 parts")
        self.refused_as_toml("a = " + "[" * 60_000, "nested too deeply")
        self.refused_as_toml("a = '" + "x" * 60_000, "not TOML")
        self.refused_as_toml("a = " + "9" * 5_000, "not TOML")
        self.refused_as_toml("# " + "x" * reading.LONGEST_TOML, "expected at most 65536 bytes")
        self.file.write_text("# " + ". " * 100 + "\n[time]\nalpha = 0.01\n")
        self.assertEqual(reading.read_toml(self.file), {"time": {"alpha": 0.01}})


if __name__ == "__main__":
    unittest.main()
