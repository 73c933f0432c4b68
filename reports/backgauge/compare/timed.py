# SPDX-License-Identifier: Apache-2.0
"""From what is timed in turns to a comparison, which is looked at again while the data grow."""

from dataclasses import replace

from ..case_line import workload_key
from ..errors import CommandError
from . import timing
from .comparison import Comparison, Side, least_certain, side_of
from .verdict import SLOWER, UNCLEAR


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
        base, head, control = (side_of(run, run.implementations[0]) for run in runs)

    # A workload that got no more blocks has not been looked at again: what it showed, it showed at its own last look.
    def of_look(workload):
        own = rule_of(workload) if rule_of else rule
        return replace(own, look=turns.looks[workload_key(workload)] if rule.look else 0)

    return Comparison(base, head, True, rule, control, turns.seconds_per_block, of_look)
