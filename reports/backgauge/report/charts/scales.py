# SPDX-License-Identifier: Apache-2.0
"""Logarithmic axes labelled 0.1, 1, 10 instead of with powers."""

from matplotlib.ticker import FuncFormatter, NullFormatter


def plain_numbers(axes):
    """On input axes that are logarithmic in both directions."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
