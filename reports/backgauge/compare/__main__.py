# SPDX-License-Identifier: Apache-2.0
"""backgauge compare: from options to two sides, and from their rows to text and an exit code."""

from .. import errors
from ..errors import CommandError
from ..run import read_run
from . import machines, text, timing
from . import options as command_line
from .comparison import Comparison, side_of
from .timed import timed
from .verdict import SLOWER, UNCLEAR, Rule


def main(arguments):
    options, bench_options = command_line.parse(arguments)
    rule = Rule(options.min_effect, options.alpha, options.mean_effect)
    if options.runs:
        comparison = _saved(options, rule)
    else:
        patience = timing.Patience(options.until_clear, options.blocks)
        comparison = timing.in_folder(options.keep, lambda folder: timed(_turns(options, bench_options, folder), patience, rule))
    rows, mean = comparison.rows_and_mean()
    if not any(row.estimates for row in rows):
        raise CommandError(f"nothing to compare: {rows[0].reason}" if rows else "nothing to compare")
    print(text.FORMATS[options.format](comparison, rows, mean))
    return _exit_code(rows, mean, options)


def _exit_code(rows, mean, options):
    verdicts = [row.verdict for row in (*rows, mean)]
    if options.gate and any(row.lost for row in rows):
        return errors.FAILED
    if options.gate and SLOWER in verdicts:
        return errors.SLOWER
    # Where nothing was decided, nothing was found to be as fast as before either.
    undecided = all(verdict == UNCLEAR for verdict in verdicts)
    if (options.gate and undecided) or (options.strict and UNCLEAR in verdicts):
        return errors.INCONCLUSIVE
    return errors.GOOD


def _saved(options, rule):
    runs = [read_run(path) for path in options.runs]
    base_run, head_run = runs[0], runs[-1]
    base = side_of(base_run, options.base_impl or base_run.implementations[0])
    if len(runs) == 1:
        others = [name for name in base_run.implementations if name != base.implementation]
        if not options.head_impl and not others:
            raise CommandError(f"{base_run.name} has only {base.implementation}: nothing to compare it with")
        return Comparison(base, side_of(head_run, options.head_impl or others[0]), True, rule)
    head = side_of(head_run, options.head_impl or base.implementation)
    machines.check_comparable(base_run, head_run, options.cross_machine)
    return Comparison(base, head, False, rule)


def _turns(options, bench_options, folder):
    names = options.impl.split(",")
    if options.base_command or options.head_command:
        if len(names) != 1:
            raise CommandError(f"--impl={options.impl}: expected one implementation with two builds")
        programs = (options.base_command or timing.bench_command(), options.head_command or timing.bench_command())
        return timing.Turns(programs, (options.impl,), bench_options, folder)
    if len(names) != 2:
        raise CommandError(f"--impl={options.impl}: expected two implementations, A,B")
    return timing.Turns((timing.bench_command(),), tuple(names), bench_options, folder)


if __name__ == "__main__":
    errors.run_command(main)
