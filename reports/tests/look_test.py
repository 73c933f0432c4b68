# SPDX-License-Identifier: Apache-2.0
"""Charts are readable on light and dark paper, and without hue."""

import itertools
import unittest

import matplotlib
import numpy as np
from backgauge.report import look
from matplotlib.colors import to_rgb


def luminance(color):
    """Relative luminance Y of a color in sRGB."""
    channels = np.array(to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def lightness(color):
    """CIELAB L*."""
    y = luminance(color)
    return 116 * np.cbrt(y) - 16 if y > 0.008856 else 903.3 * y


def contrast(one, other):
    """As the Web Content Accessibility Guidelines count it, 1 to 21."""
    bright, dim = sorted([luminance(one), luminance(other)], reverse=True)
    return (bright + 0.05) / (dim + 0.05)


class GreyTest(unittest.TestCase):
    def test_white_and_black(self):
        self.assertAlmostEqual(lightness("#ffffff"), 100, places=3)
        self.assertAlmostEqual(contrast("#ffffff", "#000000"), 21, places=3)

    def test_any_two_colors_differ_in_lightness(self):
        for theme in look.THEMES:
            for one, other in itertools.combinations(theme.series, 2):
                self.assertGreaterEqual(abs(lightness(one) - lightness(other)), 8, f"{theme.name} {one} {other}")

    def test_the_first_two_differ_most(self):
        for theme in look.THEMES:
            self.assertGreaterEqual(abs(lightness(theme.series[0]) - lightness(theme.series[1])), 19, theme.name)

    def test_text_and_marks_stand_out_from_the_paper(self):
        for theme in look.THEMES:
            self.assertGreaterEqual(contrast(theme.ink, theme.background), 7)
            self.assertGreaterEqual(contrast(theme.muted, theme.background), 4.5)
            # Pale fills stay visible by their outline in ink.
            for color in theme.series:
                self.assertGreaterEqual(contrast(color, theme.background), 2, f"{theme.name} {color}")

    def test_nothing_is_told_apart_by_hue_alone(self):
        styles = [look.style(place, look.LIGHT) for place in range(6)]
        for what in ("marker", "line", "hatch", "color"):
            self.assertEqual(len({str(getattr(style, what)) for style in styles}), len(styles), what)

    def test_the_seventh_is_no_copy_of_the_first(self):
        styles = [look.style(place, look.LIGHT) for place in range(24)]
        self.assertEqual(len({(style.color, style.marker) for style in styles}), 24)

    def test_themes_leave_no_trace(self):
        before = matplotlib.rcParams["text.color"]
        with look.themed(look.DARK):
            self.assertEqual(matplotlib.rcParams["text.color"], look.DARK.ink)
        self.assertEqual(matplotlib.rcParams["text.color"], before)


if __name__ == "__main__":
    unittest.main()
