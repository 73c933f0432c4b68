# SPDX-License-Identifier: Apache-2.0
"""The growth of the cost with one size: fits of times."""

from dataclasses import dataclass

import numpy as np

from ..quantities import seconds_text


@dataclass(frozen=True)
class LinearFit:
    """seconds = fixed + per_step * T."""

    fixed: float
    per_step: float
    largest_deviation: float  # of a time from the line, relative to the line
    exponent: float  # of time ~ T^exponent: 1 is linear; below 1 if the fixed part is significant

    def at(self, steps):
        return self.fixed + self.per_step * np.asarray(steps, dtype=float)

    @property
    def text(self):
        sign = "-" if self.fixed < 0 else "+"
        return (f"{seconds_text(self.per_step)} · T {sign} {seconds_text(abs(self.fixed))}, "
                f"largest deviation {100 * self.largest_deviation:.1f} %, ~ T^{self.exponent:.2f}")


def linear_fit(steps, seconds):
    """Least squares of relative errors, so that long sequences do not dominate. Needs three sizes."""
    steps, seconds = np.asarray(steps, dtype=float), np.asarray(seconds, dtype=float)
    matrix = np.column_stack([np.ones_like(steps), steps]) / seconds[:, None]
    (fixed, per_step), *_ = np.linalg.lstsq(matrix, np.ones_like(seconds), rcond=None)
    line = fixed + per_step * steps
    return LinearFit(float(fixed), float(per_step), float(np.max(np.abs(seconds / line - 1))),
                     power_fit(steps, seconds))


def power_fit(sizes, seconds):
    """The exponent of seconds ~ size^exponent."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
