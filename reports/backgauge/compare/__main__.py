# SPDX-License-Identifier: Apache-2.0
"""backgauge compare: from options to two sides, and from their rows to text and an exit code."""

from dataclasses import replace

from .. import errors
from ..case_line import workload_key
from ..errors import CommandError
from ..run import read_run
from . import machines, text, timing
from . import options as command_line
from .comparison import Comparison, Side, least_certain
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


def timed(turns, patience, rule, rule_of=None):
    """The comparison of what was timed until it was clear: every verdict, and that of the mean, or a SLOWER, after which
    nothing could turn the gate green."""
    def unclear(turns, look):
        rows, mean = comparison_of(turns, replace(rule, look=look), rule_of).rows_and_mean()
        if any(row.verdict == SLOWER or row.lost for row in (*rows, mean)):
            return None
        still = [row for row in rows if row.verdict == UNCLEAR and row.estimates]
        if not still and mean.verdict == UNCLEAR and mean.estimates:
            still = least_certain(rows)
        return [row.workload for row in still] or None

    return comparison_of(turns, replace(rule, look=timing.until_clear(turns, patience, unclear)), rule_of)


def comparison_of(turns, rule, rule_of=None):
    """Base, head and base once more, of what was timed in turns so far."""
    runs = turns.joined()
    if len(turns.programs) == 1:
        run, = runs
        # Bench has its own names: not the path of a library, and a different one if the same is given again.
        if len(run.implementations) != 3:
            raise CommandError(f"bench timed {', '.join(run.implementations)}: expected base twice, and head")
        base, control, head = (Side(run, name) for name in run.implementations)
    else:
        base, head, control = (_side(run, run.implementations[0]) for run in runs)

    # A workload that got no more blocks has not been looked at again: what it showed, it showed at its own last look.
    def of_look(workload):
        own = rule_of(workload) if rule_of else rule
        return replace(own, look=turns.looks[workload_key(workload)] if rule.look else 0)

    return Comparison(base, head, True, rule, control, turns.seconds_per_block, of_look)


def entry():
    errors.run_command(main)


if __name__ == "__main__":
    entry()
