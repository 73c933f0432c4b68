# SPDX-License-Identifier: Apache-2.0
"""Tables of the history for people, for pull requests and for programs."""

import json
import math

from ..markdown import markdown_table, text_table
from ..quantities import UNITS


def render(head, lines, numbers, form):
    """`numbers`: the right-aligned columns. On output a table; for json, a list of objects."""
    if form == "json":
        return json.dumps([dict(zip(head, line)) for line in lines], indent=1)
    if form == "markdown":
        return markdown_table(head, lines, numbers)
    return text_table(head, lines, numbers)


def day(time):
    return time.strftime("%Y-%m-%d")


def rounded_seconds(seconds, error):
    """Seconds with the digits that an error of the given size leaves: 1.34 ms of 1.3417 ms with an error of 0.02 ms."""
    if not math.isfinite(seconds) or seconds <= 0:
        return "-"
    unit = next((unit for unit, size in UNITS.items() if seconds >= size), "ns")
    value, error = seconds / UNITS[unit], error / UNITS[unit]
    # Two digits of the error, so that rounding adds less than a twentieth to it.
    digits = 3 if not error > 0 else max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{min(digits, 3)}f} {unit}"
