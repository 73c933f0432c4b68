# SPDX-License-Identifier: Apache-2.0
"""The command line of `backgauge report`."""

import argparse

from ..command_line import Parser

FORMATS = ("png", "svg", "html", "md", "csv")
_DEFAULT = ("svg", "html", "md", "csv")  # PNG takes as long as all of these: every picture is drawn again


def parse(arguments):
    parser = Parser(prog="backgauge report",
                    description="Draws charts of saved runs, and writes an offline page, a Markdown summary and a table.")
    parser.add_argument("runs", nargs="+", metavar="RUN",
                        help="a file that bench --out wrote, a folder of such files, or a folder that verify --out wrote")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for index.html, summary.md, table.csv and charts")
    parser.add_argument("--impl", metavar="NAME", help="the implementation that the others are compared with (default: the first)")
    parser.add_argument("--title", default="backgauge", help="heading of the page (default: backgauge)")
    parser.add_argument("--format", type=_formats, default=_DEFAULT, metavar=",".join(FORMATS),
                        help="comma-separated formats to write (default: all but png)")
    return parser.parse_args(arguments)


def _formats(text):
    words = tuple(text.split(","))
    unknown = [word for word in words if word not in FORMATS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]}: expected some of {','.join(FORMATS)}")
    return words
