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


def share(text):
    """0.03, of 3% or 0.03; above 0 and below 1."""
    value = number(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a share such as 5% or 0.05, below 100%")
    return value


def probability(text):
    value = number(text)
    if not 0 < value < 0.5:
        raise argparse.ArgumentTypeError(f"{text}: expected a probability below 0.5")
    return value


def duration(text):
    """Seconds, of 90s, 5m or 2h."""
    found = re.fullmatch(r"(\d+)([smh])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: expected a time such as 90s, 5m or 2h")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text}: expected a whole number above 0")
    return int(text)


def number(text):
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: expected a number") from error
