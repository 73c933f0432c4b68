# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: three digits and a unit."""

import math


def seconds_text(seconds):
    if math.isnan(seconds):
        return "-"
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{three_digits(seconds / scale)} {unit}"
    return f"{three_digits(seconds / 1e-9)} ns"


def three_digits(value):
    """1234 as it is, 123, 12.3, 1.23, 0.123; below that with an exponent; - for NaN."""
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


def ratio_text(ratio):
    return "-" if math.isnan(ratio) else f"{ratio:.3f}"


def percent_text(share):
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def counted(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
