# SPDX-License-Identifier: Apache-2.0
"""`backgauge history pages`: what the pages say, their size, and what Chromium makes of them."""

import re
import unittest

import browser
from backgauge import errors
from history_runs import LINES, HistoryCase, commit_id

# Leaves in `found` what does not fit or is small, and what a chart answers to the keyboard and the pointer.
_PROBE = """
  const found = {width: innerWidth, wide: document.documentElement.scrollWidth, small: [], background: getComputedStyle(document.body).backgroundColor,
                 elements: document.querySelectorAll("*").length, rows: document.querySelectorAll("table.cards tbody tr").length};
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (text && element.getClientRects().length && parseFloat(getComputedStyle(element).fontSize) < 11) found.small.push(element.outerHTML.slice(0, 80));
  }
  const plot = document.querySelector(".plot");
  if (plot) {
    const press = (key) => { plot.dispatchEvent(new KeyboardEvent("keydown", {key})); return plot.getAttribute("aria-valuetext"); };
    found.home = press("Home");
    found.next = press("ArrowRight");
    found.change = press("PageDown");
    const box = plot.getBoundingClientRect();
    plot.dispatchEvent(new PointerEvent("pointerdown", {clientX: box.right - 2, clientY: box.top + 5}));
    found.last = document.querySelector(".readout").textContent;
  }
"""

# So an overview of 200 series has at most 3,060 elements: those that it shows, and none for a run, of which there are hundreds. Now a row
# has 13 (7 cells and what is in them), and the rest of the page 46.
ELEMENTS_OF_A_ROW, OTHER_ELEMENTS = 15, 60


class PagesTest(HistoryCase):
    def make(self):
        for k in range(30):
            self.add(k, slower={("cpu", LINES[0]): 1.1 if k >= 26 else 1.0},
                     failed={("cpu", LINES[1]): ("FAILED", "<b>wrong</b>")} if k == 29 else {})
        self.out = self.folder / "out"
        self.expect(errors.GOOD, "pages", f"--history={self.history}", f"--out={self.out}", "--title=<i>mine")
        return {path.name: path.read_text() for path in self.out.iterdir()}

    def test_pages(self):
        texts = self.make()
        self.assertEqual(set(texts), {"index.html", "workload-1.html", "workload-2.html"})
        index, first, second = (texts[name] for name in sorted(texts))
        for text in texts.values():
            self.assertNotRegex(text, r"""(url\(|@import|https?://|src=)""")
            self.assertNotRegex(text, "<i>mine|<b>wrong")
            self.assertEqual([link for link in re.findall(r'href="([^"]*)"', text) if link not in texts], [])
        self.assertRegex(index, r'class="bad"><strong>SLOWER</strong> \+(9|10)\.\d %')
        self.assertIn("<strong>FAILED</strong>", index)
        self.assertEqual(index.count('class="spark"'), 2)
        self.assertIn(f"{commit_id(25)[:10]}..{commit_id(26)[:10]}", first)
        self.assertIn('class="mark m0 bad"', first)
        self.assertIn("Terms of the last run: accuracy class A in f16; determinism bitwise", first)
        self.assertIn('class="level bad"', first)
        self.assertIn('class="mark m0 lost"', second)
        self.assertNotIn('class="mark m0 bad"', second)
        self.assertEqual(first.count("<tr data-x"), 30)
        # 730 runs make a page of less than 300 kB, and 200 series an overview of less than 400 kB.
        self.assertLess((len(first) - 15_000) / 30, 400)
        self.assertLess((len(index) - 15_000) / 2, 2_000)
        if browser.CHROMIUM:
            self.look()

    def look(self):
        """Both pages, for a desk and for a phone, in one start of the browser for each colour scheme."""
        texts = {name: (self.out / name).read_text() for name in ("index.html", "workload-1.html")}
        pages = {f"{name} {width}": (text, width) for name, text in texts.items() for width in (browser.DESK, browser.PHONE)}
        backgrounds = []
        for dark in (False, True):
            found, complaints = browser.in_frames(pages, _PROBE, self.folder, dark)
            self.assertEqual(complaints, [])
            for name, (_, width) in pages.items():
                with self.subTest(name, dark=dark):
                    self.assertEqual(found[name]["width"], width)
                    self.assertLessEqual(found[name]["wide"], width)
                    self.assertEqual(found[name]["small"], [])
            backgrounds.append({each["background"] for each in found.values()})
            self.look_at_a_trend(found[f"workload-1.html {browser.DESK}"])
            overview = found[f"index.html {browser.DESK}"]
            self.assertEqual(overview["rows"], 2)
            self.assertLessEqual(overview["elements"], OTHER_ELEMENTS + 2 * ELEMENTS_OF_A_ROW)
        self.assertEqual([len(each) for each in backgrounds], [1, 1])
        self.assertNotEqual(*backgrounds)

    def look_at_a_trend(self, found):
        self.assertIn(f"commit {commit_id(0)[:10]}", found["home"])
        self.assertIn(f"commit {commit_id(1)[:10]}", found["next"])
        self.assertIn(f"commit {commit_id(26)[:10]}", found["change"])
        self.assertIn("slower", found["change"])
        self.assertIn(f"commit {commit_id(29)[:10]}", found["last"])

    def test_what_is_refused(self):
        self.assertIn("no such folder", self.expect(2, "pages", f"--history={self.history}", "--out=x"))
        self.add(0)
        self.assertIn("no times", self.expect(2, "pages", f"--history={self.history}", "--out=x", "--branch=other"))
        (self.folder / "file").write_text("")
        self.assertIn("--out=", self.expect(2, "pages", f"--history={self.history}", f"--out={self.folder}/file"))


if __name__ == "__main__":
    unittest.main()
