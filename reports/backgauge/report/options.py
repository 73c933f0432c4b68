# SPDX-License-Identifier: Apache-2.0
"""The command line of `backgauge report`."""

import argparse

from ..errors import CommandError

FORMATS = ("png", "svg", "html", "md", "csv")


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise CommandError(f"report: {message}\nRun with --help for more information.")


def parse(arguments):
    parser = _Parser(prog="backgauge report", allow_abbrev=False,
                     description="charts, one offline page and a Markdown summary of saved runs")
    parser.add_argument("runs", nargs="+", metavar="RUN",
                        help="files of bench --out, folders of them, or folders of verify --out")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for index.html, summary.md, table.csv, charts")
    parser.add_argument("--impl", metavar="NAME", help="whom the report is about; default: the first implementation")
    parser.add_argument("--title", default="backgauge", help="heading of the page")
    parser.add_argument("--format", type=_formats, default=FORMATS, metavar=",".join(FORMATS), help="what to write")
    return parser.parse_args(arguments)


def _formats(text):
    words = tuple(text.split(","))
    unknown = [word for word in words if word not in FORMATS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]}: expected some of {','.join(FORMATS)}")
    return words
