# SPDX-License-Identifier: Apache-2.0
"""The files that perf/measure keeps of a run, and the tables that it makes from them."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "perf"))

from backgauge.run import read_run  # noqa: E402
from synthetic import Synthetic, block_line  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("measure", str(ROOT / "perf" / "measure"))
measure = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure", LOADER))
LOADER.exec_module(measure)
LINES = [block_line("t25b16i512h512"), block_line("t25b64i512h512"), block_line("t50b32i256h256")]


class MeasuredTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        raw = Synthetic(LINES, shares={"cpu": 0.9, "onednn": 0.45},
                        failed={("onednn", LINES[2]): ("SKIPPED", "is not claimed")}).write(self.folder / "raw.json")
        self.machine = self.folder / "measured" / "some-cpu"
        self.machine.mkdir(parents=True)
        self.kept = self.machine / "nine.json"
        self.kept.write_text(measure.compact(raw))
        self.raw = read_run(raw)

    def test_what_is_kept_is_a_run(self):
        kept = read_run(self.kept)
        self.assertEqual(kept.pairs.keys(), self.raw.pairs.keys())
        for key, pair in kept.pairs.items():
            self.assertEqual((pair.verdict, pair.reason), (self.raw.pairs[key].verdict, self.raw.pairs[key].reason))
            self.assertEqual(len(pair.samples), min(1, len(self.raw.pairs[key].samples)))
        self.assertLess(len(self.kept.read_text()), 8000)

    def test_table(self):
        lines = measure.tables(read_run(self.kept))
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        self.assertEqual(rows[0], ["workload", "cpu", "GFLOP/s", "of limit", "error/bound", "onednn / cpu"])
        self.assertEqual(rows[2][0], "T25 B16 I512 H512 f32")
        for row in rows[2:4]:
            self.assertAlmostEqual(float(row[-1]), 2, delta=0.1)
        self.assertEqual(rows[4][-1], "-")
        self.assertEqual([row[0] for row in rows[5:]], ["**geometric mean**", "**least**"])
        self.assertAlmostEqual(float(rows[5][-1]), 2, delta=0.1)
        self.assertIn("onednn was not timed on 1 workload: SKIPPED: is not claimed", "\n".join(lines))

    def test_page_is_written_between_its_marks(self):
        page = self.folder / "measured" / "README.md"
        page.write_text(f"before\n{measure.BEGIN}\nold\n{measure.END}\nafter\n")
        for _ in range(2):
            measure.write_page(page, self.folder / "measured")
        text = page.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        self.assertNotIn("old", text)
        self.assertEqual(text.count("#### "), 1)
        for picture in ("some-cpu/nine.svg", "some-cpu/nine-dark.svg"):
            self.assertIn(f'"{picture}"', text)
            self.assertTrue((page.parent / picture).exists())

    def test_every_part_has_its_own_name(self):
        names = [part.name for part in measure.PARTS]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
