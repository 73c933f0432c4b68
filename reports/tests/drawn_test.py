# SPDX-License-Identifier: Apache-2.0
"""What a browser shows of a chart is what matplotlib draws: nothing is lost between the figure and the page.

Both pictures are compared in cells of an eighth of an inch, 12 pixels of the page. No picture is kept that would age with the
versions of matplotlib, Chromium and fonts: each run draws its own reference.
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
from matplotlib.image import imread
from synthetic import Synthetic, sweep_lines

_CELL = 1 / 8  # inches
_PAGE_DOTS, _PICTURE_DOTS = 96, 160  # per inch; pictures.py has the second

# Measured on these charts with matplotlib 3.6.3, both layouts, light and dark: with DejaVu Sans in Chromium the cells differ by at most
# 0.09, since both smooth letters in their own ways; with a font that is quite another (serif) by at most 0.18. One marker that is
# missing changes a cell by 0.23 or more. Thin lines change too little to be seen here: charts_test.py looks for those without a path.
TOLERANCE = 0.2


def cells(pixels, dots):
    """Mean lightness, 0 to 1, of each whole cell."""
    size = round(dots * _CELL)
    grey = pixels[..., :3].mean(axis=2)
    rows, columns = grey.shape[0] // size, grey.shape[1] // size
    return grey[:rows * size, :columns * size].reshape(rows, size, columns, size).mean(axis=(1, 3))


def difference(shown, drawn):
    rows, columns = min(shown.shape[0], drawn.shape[0]), min(shown.shape[1], drawn.shape[1])
    return np.abs(shown[:rows, :columns] - drawn[:rows, :columns])


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
        variables = "".join(f"--{name}: {value};" for name, value in pictures.colour_variables(theme).items())
        body, tops, top = "", {}, 0
        for section, chart in self.charts.items():
            svg = pictures.inline_svg(chart, layout)
            height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg)[1]) / 72
            tops[section] = (top, height)
            body += f'<div style="position: absolute; left: 0; top: {top}in">{change(svg)}</div>'
            top = np.ceil((top + height) / _CELL) * _CELL
        page = self.folder / f"{theme.name}-{layout.name}.html"
        page.write_text(f'<!DOCTYPE html><meta charset="utf-8"><style>:root {{{variables}}} body {{margin: 0; background: {theme.background}}}'
                        f"svg {{display: block}}</style>{body}", encoding="utf-8")
        pixels = imread(browser.screenshot(page, page.with_suffix(".png"), theme is look.DARK, width=round(layout.width * _PAGE_DOTS),
                                           height=round(top * _PAGE_DOTS)))
        return {section: cells(pixels[round(at * _PAGE_DOTS):round((at + height) * _PAGE_DOTS)], _PAGE_DOTS)
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
