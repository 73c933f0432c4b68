# SPDX-License-Identifier: Apache-2.0
"""The page: self-contained, safe, and right in a real browser, light and dark."""

import datetime
import html.parser
import pathlib
import re
import tempfile
import unittest

import browser
import numpy as np
from backgauge.report import cells, look, page, summary
from backgauge.report.__main__ import main
from backgauge.report.catalogue import all_charts
from backgauge.report.sources import read_material
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from synthetic import Synthetic, sweep_lines

ATTACK = '<script>alert("x")</script>'


class Elements(html.parser.HTMLParser):
    """Every element with its attributes; unknown closing tags are an error of the page."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in ("meta", "img", "source", "input", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def all(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


class PageCase(unittest.TestCase):
    """One report for all tests of this file: drawing is the slow part."""

    @classmethod
    def setUpClass(cls):
        if hasattr(PageCase, "folder"):
            return
        folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(folder.cleanup)
        PageCase.make(pathlib.Path(folder.name))

    @classmethod
    def make(cls, folder):
        cls.folder = folder
        lines = sweep_lines()
        failed = {("onednn", lines[3]): ("FAILED", ATTACK)}
        shares = {"cpu": 0.9, "onednn": 0.8, "eigen": 0.4}
        runs = [Synthetic(lines, shares=shares, failed=failed).write(cls.folder / "one.json"),
                Synthetic(lines[:3], shares=shares, context={"threads": 2, "governor": ATTACK}).write(cls.folder / "two.json")]
        cls.out = cls.folder / "out"
        assert main([*map(str, runs), f"--out={cls.out}", "--format=html,md,csv", f"--title={ATTACK}"]) == 0
        cls.page = cls.out / "index.html"
        cls.text = cls.page.read_text(encoding="utf-8")
        cls.material = read_material(runs, None)
        cls.now = datetime.datetime.now(datetime.UTC)
        cls.charts = all_charts(cls.material)


class PageTest(PageCase):
    def test_fetches_nothing(self):
        elements = Elements(self.text)
        self.assertEqual(elements.open, [])
        self.assertEqual(elements.all("img") + elements.all("source") + elements.all("link") + [s for s in elements.all("script") if s], [])
        without_names = re.sub(r'xmlns(:xlink)?="[^"]*"', "", self.text)
        self.assertNotRegex(without_names, r"""(url\([^#]|@import|https?://|xlink:href="[^#])""")

    def test_what_runs_say_is_text(self):
        self.assertEqual(self.text.count("<script>"), 1)
        self.assertNotIn(ATTACK, self.text)
        self.assertGreaterEqual(self.text.count("&lt;script&gt;"), 3)

    def test_every_link_has_its_target(self):
        elements = Elements(self.text)
        targets = {attributes["id"] for _, attributes in elements.found if "id" in attributes}
        links = [attributes["href"] for attributes in elements.all("a")]
        self.assertGreater(len(links), 20)
        self.assertEqual([link for link in links if link.removeprefix("#") not in targets], [])
        ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
        self.assertEqual(len(ids), len(set(ids)))

    def test_every_chart_and_row_is_there(self):
        elements = Elements(self.text)
        pictures = [attributes for attributes in elements.all("div") if attributes.get("role") == "img"]
        self.assertEqual(len(pictures), len(self.charts))
        self.assertEqual(len(elements.all("svg")), 2 * len(self.charts))
        table = self.text[self.text.index('<table class="folded">'):]
        workloads = {row.workload for row in self.material.table.rows}
        self.assertEqual(table.count("<tr") - 1 - len(workloads), len(self.material.table.rows))
        self.assertEqual(table.count("<tbody"), len(workloads))
        self.assertTrue(all(picture["aria-label"] for picture in pictures))

    def test_the_summary_is_markdown_that_renders(self):
        text = (self.out / "summary.md").read_text(encoding="utf-8")
        self.assertIn("| workloads | shapes | cpu x best peer, geometric mean | least | worst error / allowed |", text)
        self.assertIn("onednn: BlockLSTMGradV2 T50 B32 I256 H256 f32: FAILED", text)
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            self.assertEqual(len({line.count("|") for line in table.splitlines()}), 1, table)

    def test_the_terms_of_what_was_timed_are_stated(self):
        claimed = "accuracy class A in f16; determinism bitwise"
        self.assertIn(f"<li>cpu, eigen, block_lstm_grad_v2: {claimed}</li>", self.text)
        self.assertIn(f"- cpu, eigen, block_lstm_grad_v2: {claimed}", (self.out / "summary.md").read_text(encoding="utf-8"))
        self.assertIn(f",{claimed}\n", (self.out / "table.csv").read_text(encoding="utf-8"))

    def test_the_table_as_csv(self):
        lines = (self.out / "table.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines) - 1, len(self.material.table.rows))
        self.assertTrue(lines[0].startswith("machine_id,threads,cache_mode,suite,workload"))

    def test_failures_have_no_time_anywhere(self):
        failed, = [row for row in self.material.table.rows if row.verdict == "FAILED"]
        self.assertEqual([text for heading, _, cell in cells.COLUMNS if heading in ("time", "spread", "GFLOP/s")
                          for text in [cell(failed)[0]]], ["-", "-", "-"])

    def test_unjudged_times_are_shown_and_compared_with_nothing(self):
        path = Synthetic(sweep_lines()[:2], shares={"cpu": 0.9, "onednn": 0.8}, unjudged=frozenset(["onednn"])).write(
            self.folder / "unjudged.json")
        material = read_material([path], None)
        self.assertEqual({row.implementation for row in material.timed}, {"cpu"})
        row, = [row for row in material.table.rows if row.implementation == "onednn"][:1]
        shown = {heading: cell(row)[0] for heading, _, cell in cells.COLUMNS}
        self.assertEqual((shown["verdict"], shown["error / allowed"]), ("UNJUDGED", "-"))
        self.assertRegex(shown["time"], r"^[\d.]+ m?s$")
        text = page.html(material, all_charts(material), "title", self.now)
        self.assertIn("UNJUDGED", text)
        self.assertNotIn("x onednn", text)
        text = summary.markdown(material, [], "title", self.now)
        self.assertIn("Timed without judging the results (UNJUDGED), and compared with nothing:\n\n- onednn: ", text)
        self.assertNotIn("best peer, geometric mean", text)

    def test_summary_names_whom_it_is_about(self):
        made = summary.markdown(read_material([self.folder / "one.json"], "onednn"), [], "title", self.now)
        self.assertIn("onednn x best peer", made)

    def test_a_setting_shows_its_limits(self):
        setting, run = next(iter(self.material.table.contexts.items()))
        self.assertIn(("FMA limit", "112 GFLOP/s"), page.facts(run, setting))


@unittest.skipUnless(browser.CHROMIUM, "no chromium on PATH, and BACKGAUGE_CHROMIUM is not set")
class BrowserTest(PageCase):
    """What is measured in the browser holds with any fonts; pictures are compared only where fonts do not matter."""

    def test_a_broken_script_would_be_seen(self):
        broken = self.folder / "broken.html"
        without_pictures = re.sub(r"<svg.*?</svg>", "", self.text, flags=re.DOTALL)
        broken.write_text(without_pictures.replace('"use strict";', '"use strict"; no_such_name();'), encoding="utf-8")
        self.assertIn("no_such_name is not defined", " ".join(browser.complaints(broken)))

    def test_desk_and_phone_light_and_dark(self):
        colors = {}
        for theme, dark in ((look.LIGHT, False), (look.DARK, True)):
            for width, found in zip((browser.DESK, browser.PHONE), browser.probe(self.page, self.folder, dark)):
                with self.subTest(theme=theme.name, width=width):
                    self.assertEqual(found["complaints"], [])
                    self.assertEqual(len(found["charts"]), len(self.charts))
                    self.assertEqual(found["background"], "rgb({}, {}, {})".format(*(round(255 * c) for c in to_rgb(theme.background))))
                    self.assertEqual(found["width"], width)
                    self.assertLessEqual(found["overflow"], 0, "the page scrolls sideways")
                    self.check_charts(found["charts"])
                    self.assertGreaterEqual(found["smallest"], SMALLEST_TEXT)
                    self.check_table(found)
                    self.assertRegex(found["header"], r"FAILED\s+1 of \d+ results of bench wrong")
                    colors[theme.name, width] = [chart["color"] for chart in found["charts"]]
        self.assertNotEqual(colors["light", browser.DESK], colors["dark", browser.DESK], "one picture for both schemes")

    def check_charts(self, charts):
        for chart in charts:
            self.assertEqual(chart["shown"], 1, chart["name"])
            self.assertGreater(min(chart["right"] - chart["left"], chart["bottom"] - chart["top"]), 150, chart["name"])
            texts = [text for text in chart["texts"] if text["text"].strip()]
            for text in texts:
                self.assertGreaterEqual(text["size"], SMALLEST_TEXT, f'{chart["name"]}: {text["text"]}')
                self.assertGreaterEqual(text["left"] - chart["left"], -1, f'{chart["name"]}: {text["text"]} is cut')
                self.assertLessEqual(text["right"] - chart["right"], 1, f'{chart["name"]}: {text["text"]} is cut')
            self.assertEqual(overlapping(texts), [], chart["name"])

    def check_table(self, found):
        rows = len(self.material.table.rows)
        self.assertEqual((found["folded"], found["opened"]), (0, rows))
        for way in ("up", "down"):
            groups = found["columns"]["time"][way]
            for group in groups:
                numbers = [float(order) for order in group if order]
                self.assertEqual(numbers, sorted(numbers, reverse=way == "down"))
                self.assertEqual(group.index("") if "" in group else len(numbers), len(numbers), "rows without a time come last")
            firsts = [float(group[0]) for group in groups if group[0]]
            self.assertEqual(firsts, sorted(firsts, reverse=way == "down"))
        self.assertEqual(set(found["filtered"]), {"onednn"})

    def test_screenshots_show_both_schemes(self):
        for theme, dark, width in ((look.LIGHT, False, browser.DESK), (look.DARK, True, browser.PHONE)):
            pixels = imread(browser.screenshot(self.page, self.folder / f"{theme.name}.png", dark, width))[..., :3]
            paper = np.all(np.abs(pixels - to_rgb(theme.background)) < 0.01, axis=-1).mean()
            self.assertGreater(paper, 0.5, theme.name)
            for color in theme.series[:3]:
                painted = np.all(np.abs(pixels - to_rgb(color)) < 0.03, axis=-1).sum()
                self.assertGreater(painted, 100, f"{theme.name}: no mark in {color}")


SMALLEST_TEXT = 11  # pixels


def overlapping(texts, slack=1.0):
    """Pairs of texts whose boxes overlap by more than `slack` pixels in both directions; a box is a little larger than its letters."""
    found = []
    for k, one in enumerate(texts):
        for other in texts[k + 1:]:
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            # The boxes of two lines below each other overlap by the space between their letters: a third of a line at most.
            if across > slack and down > (min(one["bottom"] - one["top"], other["bottom"] - other["top"])) / 3:
                found.append((one["text"], other["text"]))
    return found


if __name__ == "__main__":
    unittest.main()
