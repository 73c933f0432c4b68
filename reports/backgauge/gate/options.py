# SPDX-License-Identifier: Apache-2.0
"""The command line of `backgauge gate`."""

import os
import pathlib

from ..command_line import Parser, duration
from ..compare.timing import OWN, only
from .policy import NAME, Policy, read_policy

# How implementations are run, by every program that the gate starts.
ISOLATION = ("--isolate", "--timeout", "--memory-limit", "--python", "--untrusted")

_USAGE = """backgauge gate --impl=NEW --baseline=OLD --out=DIR [options] [options of bench]
       backgauge gate --impl=NAME --base-command=PATH --out=DIR [options] [options of bench]

OLD is an implementation, which is timed side by side with NEW, or a file that `backgauge bench --out` wrote."""
_EPILOG = """\
Verdicts: PASSED; FAILED: wrong results; SLOWER; UNCLEAR: nothing could be decided, or the policy forbids what stayed
unclear. DIR gets summary.md, whose first line says why, gate.json, and the files of verify and bench. Exit codes:
0 PASSED; 1 FAILED; 4 SLOWER; 5 UNCLEAR; 2 wrong usage or policy; 3 an implementation, or Python's libraries, cannot be
loaded; 6 the checker or the machine failed; 130 interrupted. reports/backgauge/gate/README.md describes the policy.
"""


def parse(arguments):
    """(options, arguments for bench). options.policy is a Policy."""
    parser = Parser(prog="backgauge gate", usage=_USAGE, epilog=_EPILOG,
                    description="Checks that a build is right and no slower than before: runs verify, times it in turns with a baseline, and applies a policy.")
    parser.add_argument("--impl", default=os.environ.get("BACKGAUGE_IMPL") or "cpu", metavar="NEW",
                        help="the implementation that is judged and timed: a name, a shared library, a Python file (default: cpu)")
    parser.add_argument("--baseline", metavar="OLD", help="an implementation, or RUN.json of this machine")
    parser.add_argument("--base-command", metavar="PATH", help="the backgauge program of another build, which has the old implementation of the same name")
    parser.add_argument("--policy", metavar="FILE", help=f"TOML (default: {NAME} in the current folder, if it is there)")
    parser.add_argument("--tier", choices=["smoke", "ci", "full"], help="tier of verify (default: that of the policy, or smoke)")
    parser.add_argument("--suite", default=os.environ.get("BACKGAUGE_SUITE") or None, help="workloads that are timed (default: quick)")
    parser.add_argument("--until-clear", type=duration, default=0.0, metavar="10m", help="go on timing until nothing is UNCLEAR, or this time is up")
    parser.add_argument("--out", required=True, metavar="DIR", type=pathlib.Path, help="the folder of summary.md and gate.json")
    options, rest = parser.parse_known_args(arguments)
    if bool(options.baseline) == bool(options.base_command):
        parser.error("expected --baseline=OLD or --base-command=PATH")
    if "," in options.impl:
        parser.error(f"--impl={options.impl}: expected one implementation; the old one is the --baseline")
    for word in rest:
        if word.split("=")[0] in OWN:
            parser.error(f"{word}: not in a gate")
    options.isolation = only(rest, ISOLATION)
    if options.suite:
        rest = [f"--suite={options.suite}", *rest]
    options.policy = _policy(options.policy)
    options.tier = options.tier or options.policy.verify.tier
    return options, rest


def _policy(named):
    if named:
        return read_policy(named)
    return read_policy(NAME) if pathlib.Path(NAME).is_file() else Policy()
