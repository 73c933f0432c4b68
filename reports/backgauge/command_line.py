# SPDX-License-Identifier: Apache-2.0
"""Common parts of the command lines of this package: an error is one line and exit code 2; values that several options take."""

import argparse
import re

from .errors import CommandError


class Parser(argparse.ArgumentParser):
    """`prog`: "backgauge" and the subcommand, which messages begin with. Texts are shown as they are written."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message):
        raise CommandError(f"{self.prog.removeprefix('backgauge ')}: {message}\nRun with --help for more information.")


def checked(parse, holds, expected):
    """The type of an option: what parse(text) returns, which must hold. Otherwise the error says what was expected."""
    def value_of(text):
        value = parse(text)
        if not holds(value):
            raise argparse.ArgumentTypeError(f"{text}: expected {expected}")
        return value
    return value_of


def duration(text):
    """Seconds, of 90s, 5m or 2h."""
    found = re.fullmatch(r"(\d+)([smh])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: expected a time such as 90s, 5m or 2h")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


def number(text):
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: expected a number") from error


# 0.03, of 3% or 0.03; above 0 and below 1.
share = checked(lambda text: number(text.removesuffix("%")) / (100 if text.endswith("%") else 1), lambda value: 0 < value < 1,
                "a share such as 5% or 0.05, below 100%")
probability = checked(number, lambda value: 0 < value < 0.5, "a probability below 0.5")
positive = checked(lambda text: int(text) if text.isdecimal() else 0, bool, "a whole number above 0")
