# SPDX-License-Identifier: Apache-2.0
"""backgauge compare: from options to two sides, and from their rows to text and an exit code."""

from .. import errors
from ..errors import CommandError
from ..run import read_run
from . import machines, options as command_line, text, timing
from .comparison import Comparison, Side
from .verdict import SLOWER, UNCLEAR, Rule


def main(arguments):
    options, bench_options = command_line.parse(arguments)
    rule = Rule(options.min_effect, options.alpha)
    if options.runs:
        comparison = _saved(options, rule)
    elif options.base_command or options.head_command:
        comparison = _two_builds(options, bench_options, rule)
    else:
        comparison = _two_implementations(options, bench_options, rule)
    rows = comparison.rows()
    if not any(row.estimates for row in rows):
        raise CommandError(f"nothing to compare: {rows[0].reason}" if rows else "nothing to compare")
    print(text.FORMATS[options.format](comparison, rows))
    return _exit_code(rows, options)


def _exit_code(rows, options):
    if options.gate and any(row.lost for row in rows):
        return errors.FAILED
    if options.gate and any(row.verdict == SLOWER for row in rows):
        return errors.SLOWER
    if options.strict and any(row.verdict == UNCLEAR for row in rows):
        return errors.INCONCLUSIVE
    return errors.GOOD


def _saved(options, rule):
    runs = [read_run(path) for path in options.runs]
    base_run, head_run = runs[0], runs[-1]
    base = _side(base_run, options.base_impl or base_run.implementations[0])
    if len(runs) == 1:
        others = [name for name in base_run.implementations if name != base.implementation]
        if not options.head_impl and not others:
            raise CommandError(f"{base_run.name} has only {base.implementation}: nothing to compare it with")
        return Comparison(base, _side(head_run, options.head_impl or others[0]), True, rule)
    head = _side(head_run, options.head_impl or base.implementation)
    machines.check_comparable(base_run, head_run, options.cross_machine)
    return Comparison(base, head, False, rule)


def _side(run, implementation):
    if implementation not in run.implementations:
        raise CommandError(f"{run.name} has no {implementation}, only {', '.join(run.implementations)}")
    return Side(run, implementation)


def _two_implementations(options, bench_options, rule):
    names = options.impl.split(",")
    if len(names) != 2:
        raise CommandError(f"--impl={options.impl}: expected two implementations, A,B")
    run, = timing.time_commands([timing.bench_command()], [f"--impl={options.impl}", *bench_options],
                                options.launches, options.keep)
    # Bench has its own names: not the path of a library, and a different one if the same is given twice.
    if len(run.implementations) != 2:
        raise CommandError(f"bench timed {', '.join(run.implementations)}: expected two implementations")
    return Comparison(Side(run, run.implementations[0]), Side(run, run.implementations[1]), True, rule)


def _two_builds(options, bench_options, rule):
    if "," in options.impl:
        raise CommandError(f"--impl={options.impl}: expected one implementation with two builds")
    commands = [options.base_command or timing.bench_command(), options.head_command or timing.bench_command()]
    base, head = timing.time_commands(commands, [f"--impl={options.impl}", *bench_options], options.launches,
                                      options.keep)
    return Comparison(_side(base, base.implementations[0]), _side(head, head.implementations[0]), True, rule)


def entry():
    errors.run_command(main)


if __name__ == "__main__":
    entry()
