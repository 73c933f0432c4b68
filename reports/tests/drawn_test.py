# SPDX-License-Identifier: Apache-2.0
"""A browser shows a chart as matplotlib draws it: nothing is lost between the figure and the page.

No picture is kept that would age with the versions of matplotlib, Chromium and fonts: each run draws its own reference.
"""

import io
import pathlib
import re
import tempfile
import unittest

import browser
import numpy as np
from backgauge.report import catalogue, look, pictures
from backgauge.report.sources import read_material
from lightness import CELL, PAGE_DOTS, TOLERANCE, cells, difference
from matplotlib.image import imread
from synthetic import Synthetic, sweep_lines

_PICTURE_DOTS = 160  # per inch; pictures.py has it


@unittest.skipUnless(browser.CHROMIUM, "no chromium on PATH, and BACKGAUGE_CHROMIUM is not set")
class DrawnTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        run = Synthetic(sweep_lines(), shares={"cpu": 0.9, "onednn": 0.82, "eigen": 0.35})
        material = read_material([run.write(cls.folder / "run.json")], "cpu")
        cls.charts = {}
        for chart in catalogue.all_charts(material):
            cls.charts.setdefault(chart.section, chart)

    def shown(self, theme, layout, change=lambda svg: svg):
        """{section: cells} of a page that has nothing but the charts, one below the other."""
        variables = "".join(f"--{name}: {value};" for name, value in theme.variables.items())
        body, tops, top = "", {}, 0
        for section, chart in self.charts.items():
            svg = pictures.inline_svg(chart, layout)
            height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg)[1]) / 72
            tops[section] = (top, height)
            body += f'<div style="position: absolute; left: 0; top: {top}in">{change(svg)}</div>'
            top = np.ceil((top + height) / CELL) * CELL
        page = self.folder / f"{theme.name}-{layout.name}.html"
        page.write_text(f'<!DOCTYPE html><meta charset="utf-8"><style>:root {{{variables}}} body {{margin: 0; background: {theme.background}}}'
                        f"svg {{display: block}}</style>{body}", encoding="utf-8")
        pixels = imread(browser.screenshot(page, page.with_suffix(".png"), theme is look.DARK, width=round(layout.width * PAGE_DOTS),
                                           height=round(top * PAGE_DOTS)))
        return {section: cells(pixels[round(at * PAGE_DOTS):round((at + height) * PAGE_DOTS)], PAGE_DOTS)
                for section, (at, height) in tops.items()}

    def worst(self, theme, layout, change=lambda svg: svg):
        """{section: the largest difference of a cell}."""
        found = {}
        for section, shown in self.shown(theme, layout, change).items():
            drawn = imread(io.BytesIO(pictures.picture(self.charts[section], theme, "png", layout)))
            found[section] = float(difference(shown, cells(drawn, _PICTURE_DOTS)).max())
        return found

    def test_every_kind_of_chart(self):
        for theme, layout in ((look.LIGHT, look.WIDE), (look.DARK, look.NARROW)):
            for section, worst in self.worst(theme, layout).items():
                self.assertLess(worst, TOLERANCE, f"{section}, {theme.name}, {layout.name}")

    def test_what_is_missing_is_seen(self):
        def without_marks(svg):
            return re.sub(r"<use [^>]*/>|<path [^>]*fill: var\(--series[^>]*/>", "", svg)

        for section, worst in self.worst(look.LIGHT, look.WIDE, without_marks).items():
            self.assertGreater(worst, TOLERANCE, section)


if __name__ == "__main__":
    unittest.main()
