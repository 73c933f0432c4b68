# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: three digits and a unit, or fewer digits if they are uncertain.

An `uncertainty` is relative. A number ends with the digit in which its uncertainty begins: 26.914 ms with 4 % is 27 ms.
"""

import math

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}  # of time, in seconds


def seconds_text(seconds, uncertainty=0.0):
    if math.isnan(seconds):
        return "-"
    unit = next((unit for unit, size in UNITS.items() if seconds >= size), "ns")
    return f"{three_digits(seconds / UNITS[unit], uncertainty)} {unit}"


def _certain(value, uncertainty, most):
    """`value` to as many digits as are certain, from 1 to `most`, and how many these are."""
    if not value or not math.isfinite(value) or not uncertainty > 0:
        return value, most
    # A number that is uncertain by more than itself keeps its first digit.
    places = math.floor(math.log10(abs(value))) - math.floor(math.log10(abs(value) * min(uncertainty, 1)))
    digits = min(max(places + 1, 1), most)
    return float(f"{value:.{digits - 1}e}"), digits


def three_digits(value, uncertainty=0.0):
    """1234 as it is, 123, 12.3, 1.23, 0.123; below that with an exponent; - for NaN."""
    value, digits = _certain(value, uncertainty, 3)
    if digits < 3 and 1e-3 <= abs(value) < math.inf:
        return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    size = abs(value)
    if size >= 99.95 or size == 0:
        return f"{value:.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 0.9995 else f"{value:.3g}"


def ratio_text(ratio, uncertainty=0.0):
    """At most three places: 1.234."""
    if math.isnan(ratio):
        return "-"
    if not uncertainty > 0:
        return f"{ratio:.3f}"
    value, digits = _certain(ratio, uncertainty, 4)
    size = math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{min(3, max(0, digits - 1 - size))}f}"


def percent_text(share, uncertainty=0.0):
    return "-" if math.isnan(share) else f"{_certain(100 * share, uncertainty, 3)[0]:.0f} %"


def counted(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
