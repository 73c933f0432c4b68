# SPDX-License-Identifier: Apache-2.0
"""The command line of `backgauge campaign`."""

import argparse
import os
import re

from ..command_line import Parser, checked, positive

_DESCRIPTION = """\
Judges a tier, or several of them with other seeds, on all cores of this machine or of a Dask cluster. The folder of each seed
holds what `backgauge verify --tier=T --seed=N --out=FOLDER` would have written there, timings aside."""
_EPILOG = """\
A worker needs the program backgauge of the same build as this one: in $BACKGAUGE_COMMAND, installed by pip, or on the PATH. The file
of --impl is sent to it.
Exit codes: as those of verify, over all seeds; 2 also for a worker with another build. properties/campaigns.md says more.
"""
# The seed of a plan is a number of 64 bits.
_MOST_SEEDS = 2 ** 64


def parse(arguments):
    parser = Parser(prog="backgauge campaign", description=_DESCRIPTION, epilog=_EPILOG)
    _where(parser)
    _what(parser)
    _judging(parser)
    _verdict(parser)
    return parser.parse_args(arguments)


def _where(parser):
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", type=_address, help="the scheduler of a Dask cluster: tcp://HOST:8786")
    where.add_argument("--local", metavar="N", type=positive, help="judge N cases at once on this machine (default: one on each core)")
    parser.add_argument("--out", metavar="DIR", required=not _set("OUT"), default=_set("OUT"), help="folder of the campaign; each seed has a folder in it")
    parser.add_argument("--resume", action="store_true", help="go on with the campaign in --out: judge what is missing")


def _what(parser):
    parser.add_argument("--impl", metavar="NAME", default=_set("IMPL") or "cpu", help="implementation: a built-in one, a shared library or a Python file (default: cpu)")
    parser.add_argument("--tier", metavar="{smoke,ci,full}", type=_tier, default=_set("TIER") or "ci", help="tier (default: ci)")
    parser.add_argument("--seed", metavar="N", type=_seed, default=_set("SEED") or "1", help="the first seed (default: 1)")
    parser.add_argument("--cases", metavar="N", type=_cases, default=1,
                        help="judge at least N cases, such as 1e6: whole tiers, with the seeds from --seed on (default: one tier)")
    parser.add_argument("--batch", metavar="N", type=positive, default=4000,
                        help="size of a batch: the cases that take N milliseconds with an implementation as fast as plain (default: 4000)")
    parser.add_argument("--ops", default=_set("OPS"), help="comma-separated ops (default: all)")


def _judging(parser):
    """Options of every process that judges."""
    parser.add_argument("--threads", metavar="N", type=positive, default=_set("THREADS") or "1", help="threads of the implementation, per call (default: 1)")
    for name, text in (("isolate", "on, off or auto: run the implementation in separate processes"), ("timeout", "time limit of one isolated call: 30s, 5m"),
                       ("memory-limit", "memory that an isolated implementation may allocate: 2G, 512M; 0: no limit"),
                       ("python", "on the workers, the interpreter of an implementation that is a Python file")):
        parser.add_argument(f"--{name}", metavar="TEXT", default=_set(name.upper().replace("-", "_")), help=text)
    parser.add_argument("--untrusted", metavar="TEXT", nargs="?", const=True, help="confine the implementation; as-far-as-possible: also where a machine lacks some of the protections")


def _verdict(parser):
    """Options of verify at the end of each seed."""
    parser.add_argument("--waivers", metavar="FILE", default=_set("WAIVERS"), help="known failures, each accepted until a date")
    parser.add_argument("--strict", action="store_true", help="exit with code 5 if a case is MISTRUSTED")
    parser.add_argument("--no-shrink", action="store_true", help="do not search for smaller cases that fail in the same way")


def judging_words(options, impl):
    """The options of a process that judges `impl`."""
    words = [f"--impl={impl}", f"--threads={options.threads}"]
    words += [f"--{name}={value}" for name, value in (("isolate", options.isolate), ("timeout", options.timeout),
                                                      ("memory-limit", options.memory_limit), ("python", options.python)) if value]
    if options.untrusted:
        words.append("--untrusted" if options.untrusted is True else f"--untrusted={options.untrusted}")
    return words


def verify_words(options):
    return [*judging_words(options, options.impl), *([f"--ops={options.ops}"] if options.ops else []),
            *([f"--waivers={options.waivers}"] if options.waivers else []),
            *(["--strict"] if options.strict else []), *(["--no-shrink"] if options.no_shrink else [])]


def _set(name):
    return os.environ.get(f"BACKGAUGE_{name}", "")


_address = checked(str, re.compile(r"(tcp|tls|ucx|ws|wss)://\S+:\d+").fullmatch, "an address such as tcp://HOST:8786")
_tier = checked(str, ("smoke", "ci", "full").__contains__, "smoke, ci or full")
_seed = checked(lambda text: int(text) if text.isdecimal() else _MOST_SEEDS, lambda seed: seed < _MOST_SEEDS,
                "a whole number below 2^64")


def _cases(text):
    try:
        number = float(text)
    except ValueError:
        number = 0.5
    if not 1 <= number < _MOST_SEEDS or number != int(number):
        raise argparse.ArgumentTypeError(f"{text}: expected a number of cases, such as 200000 or 1e6")
    return int(number)
