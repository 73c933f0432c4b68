# SPDX-License-Identifier: Apache-2.0
"""The command line of `backgauge history`."""

import os

from ..command_line import Parser, checked, duration, number, probability, share
from ..compare.timing import OWN
from ..errors import CommandError

_DESCRIPTION = """Remembers runs of bench for years, and finds what changed. The history is a folder of immutable files:
a branch of a git repository, a bucket or a share. Copying all files of two histories into one merges them."""
_EXIT_CODES = """\
Exit codes: 0 success; 1 check: a workload that had a time before gives wrong results in the last run; 2 wrong usage, or files that
are not a history; 3 a library is missing; 4 check or bisect: something became slower; 5 check --strict: a series could not be
decided; 6 an error in this package.
"""

_OF_BISECT = """\
The other options are those of bench: --suite, --case, --min-time, --threads, ... If several workloads are SLOWER at
the bad end, the one that became slowest is followed. A commit that cannot be built, is wrong or stays undecided is skipped.
Exit codes: 4 found: the first bad commit, or, where commits were skipped, those that may be it; 0 the bad end is not slower; 5 that
is UNCLEAR; 1 the bad end is wrong, and nothing else slower; 2 wrong usage, or an end that cannot be built; 3 a library or an end cannot
be loaded; 130 interrupted.
"""


def parse(arguments):
    """The options, and in `rest` those that bisect passes on to bench."""
    parser = Parser(prog="backgauge history", description=_DESCRIPTION, epilog=_EXIT_CODES)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for declare in (_add, _list, _show, _check, _bisect, _pages, _copy):
        declare(commands)
    options, rest = parser.parse_known_args(arguments)
    if rest and not getattr(options, "passes_on", False):
        parser.error(f"{options.command}: unexpected {rest[0]}")
    options.rest = rest
    for word in rest:
        if word.split("=")[0] in OWN:
            parser.error(f"{options.command}: unexpected {word}")
    if hasattr(options, "history"):
        _place(options)
    return options


def _command(commands, name, text, has_history=True, **more):
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", **more)
    if has_history:
        parser.add_argument("--history", metavar="DIR", help="the folder (default: $BACKGAUGE_HISTORY, else history)")
        parser.add_argument("--database", metavar="URL", help="postgresql://USER@HOST/NAME or sqlite:///FILE, instead of a folder (default: $BACKGAUGE_DATABASE)")
    return parser


def _place(options):
    """Where the history is: an option comes before the environment, and only one place may be named."""
    if options.history and options.database:
        raise CommandError(f"history {options.command}: --history and --database: expected one of them")
    named = options.history or options.database
    options.history = options.history or os.environ.get("BACKGAUGE_HISTORY") or ""
    options.database = options.database or (not named and os.environ.get("BACKGAUGE_DATABASE")) or ""
    if not named and options.history and options.database:
        raise CommandError("BACKGAUGE_HISTORY and BACKGAUGE_DATABASE: expected one of them")
    options.history = options.history or "history"


def _filters(parser):
    parser.add_argument("--branch", help="only this branch")
    parser.add_argument("--impl", metavar="NAME", help="only this implementation")
    parser.add_argument("--machine", metavar="TEXT", help="only machines of which the CPU model, the instruction set or the id contains this")


def _add(commands):
    parser = _command(commands, "add", "remember a run")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a file that bench --out wrote")
    parser.add_argument("--commit", required=True, help="the commit that was measured; git says when it was made and after which")
    parser.add_argument("--branch", required=True, help="the branch that it was measured for")
    parser.add_argument("--repository", metavar="DIR", default=".", help="the git repository of the commit (default: the current folder)")
    parser.add_argument("--commit-time", metavar="TIME", help="when it was made, e.g. 2026-01-31T12:00:00+00:00, instead of asking git")
    parser.add_argument("--parents", metavar="A,B", help="with --commit-time: its parents")


def _list(commands):
    parser = _command(commands, "list", "list the runs, in the order of their commits")
    _filters(parser)
    parser.add_argument("--format", choices=["text", "markdown", "json"], default="text", help="output format (default: text)")


def _show(commands):
    parser = _command(commands, "show", "show the times of workloads from commit to commit")
    parser.add_argument("workload", metavar="WORKLOAD", help="a case line, or words that it contains")
    _filters(parser)
    parser.add_argument("--format", choices=["text", "markdown", "json"], default="text", help="output format (default: text)")


def _check(commands):
    parser = _command(commands, "check", "find the commits that changed the times; exit code 4 if something became slower recently")
    _filters(parser)
    _rule(parser)
    parser.add_argument("--all", action="store_true", help="list earlier changes too")
    parser.add_argument("--strict", action="store_true", help="exit code 5 if a series is too short or too noisy to be decided")
    parser.add_argument("--noisy", type=share, default=0.05, metavar="5%", help="a series is too noisy if three runs do not show a step of this size (default: 5%%)")
    parser.add_argument("--format", choices=["text", "markdown", "json"], default="text", help="output format (default: text)")


def _bisect(commands):
    parser = _command(commands, "bisect", "find the commit that made an implementation slower, by timing builds of a repository side by side",
                      has_history=False, epilog=_OF_BISECT, usage="backgauge history bisect --good=COMMIT --bad=COMMIT --build=COMMAND --impl=PATH --out=DIR [options] [options of bench]")
    parser.set_defaults(passes_on=True)
    parser.add_argument("--good", required=True, metavar="COMMIT", help="a commit that was fast, an ancestor of the bad one")
    parser.add_argument("--bad", required=True, metavar="COMMIT", help="a commit that is slow")
    parser.add_argument("--repository", metavar="DIR", default=".", help="the git repository of both (default: the current folder)")
    parser.add_argument("--build", required=True, metavar="COMMAND", help="builds the commit whose work tree is the current folder; run by sh")
    parser.add_argument("--impl", required=True, metavar="PATH", help="the shared library or Python file to time, below the work tree, when it is built")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of work trees, runs and the result, bisect.json; the same command goes on with an interrupted bisect")
    parser.add_argument("--min-effect", type=share, default=0.03, metavar="3%", help="the smallest slow-down of a workload that counts (default: 3%%)")
    parser.add_argument("--mean-effect", type=share, default=0.01, metavar="1%", help="the same for the geometric mean of all (default: 1%%)")
    parser.add_argument("--alpha", type=probability, default=0.01, help="accepted probability that any decision is wrong (default: 0.01)")
    parser.add_argument("--until-clear", type=duration, default=600.0, metavar="10m", help="time a build for at most so long until it is decided; then it is skipped (default: 10m)")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="output format (default: text)")


def _pages(commands):
    parser = _command(commands, "pages", "write offline pages: an overview, and a trend for each workload")
    _filters(parser)
    _rule(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder for index.html and the other pages")
    parser.add_argument("--title", default="backgauge history", help="heading of the overview (default: backgauge history)")


def _copy(commands):
    parser = _command(commands, "copy", "add all runs of one history to another one", has_history=False)
    parser.add_argument("source", metavar="FROM", help="a folder, postgresql://USER@HOST/NAME or sqlite:///FILE")
    parser.add_argument("target", metavar="TO", help="the same")


def _rule(parser):
    parser.add_argument("--min-effect", type=share, default=0.02, metavar="2%", help="the smallest change that counts (default: 2%%)")
    parser.add_argument("--false-alarms", type=_rate, default=0.001, metavar="RATE", help="accepted false alarms for each series and month of nightly runs (default: 0.001)")
    parser.add_argument("--days", type=_days, default=7, help="a change is new for this many days (default: 7)")


_rate = checked(number, lambda rate: 0 < rate <= 1, "a number above 0, at most 1")
_days = checked(number, lambda days: 0 < days < 1e6, "a number of days above 0")
