# SPDX-License-Identifier: Apache-2.0
"""The command line of `backgauge compare`."""

from ..command_line import Parser, duration, positive, probability, share
from .timing import FIRST_BLOCKS

_USAGE = """backgauge compare RUN [RUN] [options]
       backgauge compare --impl=A,B [options] [options of bench]
       backgauge compare --base-command=PATH --impl=A [options] [options of bench]

RUN is a file that `backgauge bench --out` wrote."""
_EPILOG = """\
Verdicts: SLOWER and FASTER: the difference is at least --min-effect and significant. SAME: the whole confidence interval
is within --min-effect. Everything else is UNCLEAR. Exit codes: 0 success; 4 with --gate: a workload or the mean of all is
SLOWER; 1 with --gate: head fails a workload that base passes; 5 with --gate: nothing could be decided, with --strict: a
workload is UNCLEAR; 2 wrong usage, or runs that cannot be compared.
"""


def parse(arguments):
    """(options, arguments for bench)."""
    parser = Parser(prog="backgauge compare", epilog=_EPILOG, usage=_USAGE,
                    description="Compares the times of a base and a head: two saved runs, two implementations of one run, or two\n"
                                "implementations or builds that are timed now.")
    parser.add_argument("--base-impl", help="the implementation for base (default: the first of its run)")
    parser.add_argument("--head-impl", help="the implementation for head (default: the same as for base; within one run, the second)")
    parser.add_argument("--min-effect", type=share, default=0.03, metavar="3%", help="the smallest difference that counts (default: 3%%)")
    parser.add_argument("--mean-effect", type=share, default=0.01, metavar="1%", help="the same for the geometric mean over all workloads (default: 1%%)")
    parser.add_argument("--alpha", type=probability, default=0.01, help="accepted probability of a false SLOWER or FASTER in the whole comparison (default: 0.01)")
    parser.add_argument("--gate", action="store_true", help="exit code 4 if a workload is SLOWER")
    parser.add_argument("--strict", action="store_true", help="exit code 5 if a workload is UNCLEAR")
    parser.add_argument("--cross-machine", action="store_true", help="compare runs of different machines, calibrated by their measured limits")
    parser.add_argument("--format", choices=["text", "markdown", "json"], default="text", help="output format (default: text)")
    timed = parser.add_argument_group("timed now (without RUN; all other options are passed to backgauge bench)")
    timed.add_argument("--impl", metavar="A,B", help="base and head; with --base-command, one implementation")
    timed.add_argument("--base-command", metavar="PATH", help="the backgauge program of another build, for base")
    timed.add_argument("--head-command", metavar="PATH", help="the same for head (default: this program)")
    timed.add_argument("--blocks", type=positive, default=FIRST_BLOCKS, help="sets of new processes that are timed before the first look (default: %(default)s)")
    timed.add_argument("--until-clear", type=duration, default=0.0, metavar="10m", help="go on until no workload is UNCLEAR, or this time is up")
    timed.add_argument("--keep", metavar="DIR", help="folder in which the runs are kept")
    options, rest = parser.parse_known_args(arguments)
    # When timing now, a word after an option may be its value; only bench can distinguish that from a file.
    now = options.impl or options.base_command or options.head_command
    options.runs = [] if now else [word for word in rest if not word.startswith("-")]
    rest = rest if now else [word for word in rest if word.startswith("-")]
    if "--unjudged" in rest:
        parser.error("--unjudged: times of results that were not judged are not compared")
    if options.runs and rest:
        parser.error(f"unknown option {rest[0]}")
    if now and not arguments[0].startswith("-"):
        parser.error("--impl, --base-command and --head-command are for timing now; with saved runs use --base-impl and --head-impl")
    if len(options.runs) > 2:
        parser.error(f"expected one or two runs, got {len(options.runs)}")
    if not options.runs and not options.impl:
        parser.error("expected RUN files, or --impl=A,B to time now")
    return options, rest
