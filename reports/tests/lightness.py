# SPDX-License-Identifier: Apache-2.0
"""Pictures of the same thing by different renderers, compared in cells of an eighth of an inch, 12 pixels of a page."""

import numpy as np

CELL = 1 / 8  # inches
PAGE_DOTS = 96  # per inch

# Measured on the charts of drawn_test.py with matplotlib 3.6.3, both layouts, light and dark: with DejaVu Sans in Chromium the cells differ
# by at most 0.09, since both smooth letters in their own ways; with a font that is quite another (serif) by at most 0.18. One marker that
# is missing changes a cell by 0.23 or more. Thin lines change too little to be seen here: charts_test.py looks for those without a path.
TOLERANCE = 0.2


def cells(pixels, dots):
    """Mean lightness, 0 to 1, of each whole cell."""
    return means(pixels[..., :3].mean(axis=2), round(dots * CELL))


def means(grey, size):
    """The means of whole squares of `size` pixels each way."""
    rows, columns = grey.shape[0] // size, grey.shape[1] // size
    return grey[:rows * size, :columns * size].reshape(rows, size, columns, size).mean(axis=(1, 3))


def difference(shown, drawn):
    rows, columns = min(shown.shape[0], drawn.shape[0]), min(shown.shape[1], drawn.shape[1])
    return np.abs(shown[:rows, :columns] - drawn[:rows, :columns])
