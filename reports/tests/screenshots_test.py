# SPDX-License-Identifier: Apache-2.0
"""The page of a report and the overview of a history look as they did when they were last reviewed: at 390 and 1280 pixels, next to
what is kept in screenshots/. Its README says how they are compared, and why so. `reports/renew-screenshots` makes the pictures anew."""

import base64
import datetime
import json
import os
import pathlib
import subprocess
import unittest

import browser
import matplotlib
import numpy as np
from backgauge.report import page
from backgauge.report.catalogue import all_charts
from backgauge.report.sources import read_material
from history_runs import LINES, START, HistoryCase
from lightness import difference, means
from matplotlib.image import imread
from PIL import Image
from synthetic import Synthetic, block_line

KEPT = pathlib.Path(__file__).parent / "screenshots"
RENEW = os.environ.get("BACKGAUGE_TEST_RENEW") == "1"
PYTHON = os.environ.get("BACKGAUGE_TEST_PYTHON")  # has ruptures, which Debian does not
HIGHEST = 7000  # pixels: more than any of these pages has

SHRUNK = 3  # pixels of a page, each way, in one of a kept picture
CELL = 4  # pixels of a kept picture: the 12 of lightness.py

# screenshots/README.md has the measurements.
NEAR = 6  # pixels: less than a line of text
TOLERANCE = 0.1  # of lightness: more than the same font by another renderer

# Leaves the boxes of the parts; none is in another one.
_PROBE = """
  const found = {};
  for (const part of document.querySelectorAll("header, figure, section:not(:has(figure))")) {
    const box = part.getBoundingClientRect();
    found[part.id || part.tagName.toLowerCase()] = [box.left, box.top, box.width, box.height].map(Math.round);
  }
"""


def fixed_font():
    file = pathlib.Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    data = base64.b64encode(file.read_bytes()).decode()
    return (f'<style>@font-face {{ font-family: "Of the test"; src: url("data:font/ttf;base64,{data}"); }}\n'
            '* { font-family: "Of the test" !important; }</style></head>')


def shrunk(pixels, box):
    """A part of the page: lightness from 0 to 1, of squares that begin at its own corner."""
    left, top, width, height = box
    return means(pixels[top:top + height, left:left + width, :3].mean(axis=2), SHRUNK)


@unittest.skipUnless(browser.CHROMIUM, "no chromium on PATH, and BACKGAUGE_CHROMIUM is not set")
@unittest.skipUnless(PYTHON, "no build/python, which has ruptures for the history (ci/install-deps --python)")
class ScreenshotsTest(HistoryCase):
    def report(self):
        """The text of a page with every kind of chart that times have, and a failure."""
        lines = [block_line(dims) for dims in ("t25b16i512h512", "t50b16i512h512", "t100b16i512h512")]
        run = Synthetic(lines, shares={"cpu": 0.9, "onednn": 0.8, "eigen": 0.4}, failed={("onednn", lines[2]): ("FAILED", "w_grad[0]: ratio 7")},
                        context={"date": START.isoformat()}).write(self.folder / "run.json")
        material = read_material([run], "cpu")
        return page.html(material, all_charts(material), "backgauge report", START + datetime.timedelta(days=1))

    def overview(self):
        """The text of an overview: one workload became slower, the other failed in the end."""
        for k in range(12):
            self.add(k, slower={("cpu", LINES[0]): 1.1 if k >= 8 else 1},
                     failed={("cpu", LINES[1]): ("FAILED", "w_grad[0]: ratio 7")} if k == 11 else {})
        out = self.folder / "pages"
        subprocess.run([PYTHON, "-m", "backgauge.history", "pages", f"--history={self.history}", f"--out={out}"], check=True, capture_output=True)
        return (out / "index.html").read_text(encoding="utf-8")

    def taken(self):
        """{"NAME-WIDTH": (boxes, {part: its picture})} of both pages at both widths, in one start of the browser."""
        texts = {"report": self.report(), "history": self.overview()}
        pages = {f"{name}-{width}": (text.replace("</head>", fixed_font()), width)
                 for name, text in texts.items() for width in (browser.PHONE, browser.DESK)}
        found, complaints = browser.in_frames(pages, _PROBE, self.folder, height=HIGHEST, picture=self.folder / "all.png")
        self.assertEqual(complaints, [])
        pixels, left, shots = imread(self.folder / "all.png"), 0, {}
        for name, (_, width) in pages.items():
            mine = pixels[:, left:left + width]
            self.assertLessEqual(max(top + height for _, top, _, height in found[name].values()), HIGHEST)
            shots[name] = found[name], {part: shrunk(mine, box) for part, box in found[name].items()}
            left += width
        return shots

    def test_pages_look_as_they_did(self):
        shots = self.taken()
        if RENEW:
            self.keep(shots)
            self.skipTest(f"made {KEPT} anew: nothing was compared")
        kept = json.loads((KEPT / "boxes.json").read_text())
        self.assertEqual(list(kept["boxes"]), list(shots))
        made = f"; kept by Chromium {kept['chromium']} and matplotlib {kept['matplotlib']}"
        for name, (boxes, pictures) in shots.items():
            before = kept["boxes"][name]
            self.assertEqual(list(before), list(boxes), f"{name}: the parts{made}")
            picture, top = imread(KEPT / f"{name}.png"), 0
            for part, box in boxes.items():
                with self.subTest(f"{name} {part}"):
                    self.compare_boxes(before[part], box, made)
                    rows, columns = (size // SHRUNK for size in (before[part][3], before[part][2]))
                    then = picture[top:top + rows, :columns]
                    self.compare_pictures(then, pictures[part], made)
                    # The comparison can fail: half of the part is white.
                    blank = then.copy()
                    blank[:len(then) // 2] = 1
                    with self.assertRaises(AssertionError):
                        self.compare_pictures(blank, pictures[part], made)
                top += before[part][3] // SHRUNK

    def compare_boxes(self, before, now, made):
        for what, then, here in zip(("left edge", "top", "width", "height"), before, now):
            if what != "top":  # that of a part below another one says again how high this is
                self.assertLessEqual(abs(here - then), NEAR, f"{what} {here} pixels, was {then}{made}")

    def compare_pictures(self, before, now, made):
        worst = difference(means(before, CELL), means(now, CELL))
        row, column = np.unravel_index(worst.argmax(), worst.shape)
        self.assertLess(worst.max(), TOLERANCE, f"a cell {12 * column} pixels from the left and {12 * row} from the top of the part{made}")

    def keep(self, shots):
        KEPT.mkdir(exist_ok=True)
        for name, (_, pictures) in shots.items():
            sheet = np.ones((sum(len(each) for each in pictures.values()), max(each.shape[1] for each in pictures.values())))
            top = 0
            for each in pictures.values():
                sheet[top:top + each.shape[0], :each.shape[1]] = each
                top += len(each)
            Image.fromarray(np.round(255 * sheet).astype(np.uint8)).save(KEPT / f"{name}.png", optimize=True)
        boxes = {name: boxes for name, (boxes, _) in shots.items()}
        version = subprocess.run([browser.CHROMIUM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        text = json.dumps({"chromium": version, "matplotlib": matplotlib.__version__, "boxes": boxes}, indent=1)
        (KEPT / "boxes.json").write_text(text + "\n")


if __name__ == "__main__":
    unittest.main()
