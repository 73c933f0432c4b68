# SPDX-License-Identifier: Apache-2.0
"""Logarithmic axes labelled 0.1, 1, 10, 1e5 instead of with powers, whose exponents are too small to read."""

import re

from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter


def plain_text(value):
    """0.25, 1000, 2.5e5: at most two digits from 10,000 on."""
    return f"{value:g}" if abs(value) < 1e4 else re.sub(r"e\+0*", "e", f"{value:.2g}")


def plain_numbers(*axes):
    """On input axes with a logarithmic scale, as axes.xaxis."""
    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain_text(value)))
        axis.set_minor_formatter(NullFormatter())


def few_decades(axis):
    """Labels 1, 2, 5, 10 where powers of ten alone would leave an axis with one number, or none."""
    low, high = axis.get_view_interval()
    if high / low < 100:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
