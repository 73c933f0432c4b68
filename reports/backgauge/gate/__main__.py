# SPDX-License-Identifier: Apache-2.0
"""backgauge gate: verify, times and counts, one after the other; then the verdict and its files."""

import subprocess

from .. import errors
from ..compare import timing
from ..compare.comparison import Comparison, Side
from ..compare.machines import check_comparable
from ..compare.timed import timed
from ..compare.verdict import UNCLEAR, Rule
from ..errors import CommandError
from ..run import read_run
from ..verification import read_verified_run
from . import counts, summary
from . import options as command_line
from .decision import FAILED, Evidence, decide
from .options import ISOLATION
from .policy import ALWAYS, NEVER


def main(arguments):
    options, bench_options = command_line.parse(arguments)
    policy, evidence = options.policy, Evidence()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "summary.md").write_text("")  # a place that cannot be written would be found only at the end
    if policy.verify.required:
        _verify(options, evidence)
    decision = decide(evidence, policy)
    # The times of wrong results are those of other work.
    if decision.verdict != FAILED:
        _time(options, bench_options, evidence)
        _count(options, bench_options, evidence)
        decision = decide(evidence, policy)
    (options.out / "summary.md").write_text(summary.markdown(decision, evidence, policy), encoding="utf-8")
    (options.out / "gate.json").write_text(summary.as_json(decision, evidence, policy), encoding="utf-8")
    print(f"gate: {decision.verdict}: {decision.line}")
    for line in evidence.conduct:
        print(line)
    print(f"{options.out / 'summary.md'} has the details")
    return decision.exit_code


def _verify(options, evidence):
    folder = options.out / "verify"
    with open(options.out / "verify.txt", "w", encoding="utf-8") as log:
        done = subprocess.run([timing.bench_command(), "verify", f"--impl={options.impl}", f"--tier={options.tier}", f"--out={folder}",
                               *options.isolation],
                              stdin=subprocess.DEVNULL, stdout=log, check=False)
    # 1: wrong results; 5: some of it proves nothing. With any other code, the implementation was not judged.
    if done.returncode not in (errors.GOOD, errors.FAILED, errors.INCONCLUSIVE):
        raise CommandError(f"verify: exit code {done.returncode}; {log.name} has what it printed",
                           errors.INTERRUPTED if done.returncode < 0 else done.returncode)
    evidence.verify_code, evidence.verified = done.returncode, read_verified_run(folder)


def _time(options, bench_options, evidence):
    time = options.policy.time
    rule = Rule(time.min_effect, time.alpha, time.mean_effect)
    if options.baseline and _is_run(options.baseline):
        comparison = _against_a_run(options, bench_options, rule)
    else:
        turns = _turns(options, bench_options, _folder(options))
        comparison = timed(turns, timing.Patience(options.until_clear), rule, _rule_of(options.policy, turns, rule))
    evidence.comparison = comparison
    evidence.rows, evidence.mean = comparison.rows_and_mean()


def _rule_of(policy, turns, rule):
    """The rule for each workload: that of all, but for its own smallest effect."""
    def of(workload):
        suite = next((pair.suite for (key, _), pair in turns.runs[0][0].pairs.items() if key == workload), "")
        return Rule(policy.of(workload, suite).min_effect, rule.alpha, rule.mean_effect)
    return of


def _folder(options):
    folder = options.out / "bench"
    folder.mkdir(exist_ok=True)
    return folder


def _is_run(name):
    return name.endswith((".json", ".samples.jsonl"))


def _turns(options, bench_options, folder):
    if options.base_command:
        return timing.Turns((options.base_command, timing.bench_command()), (options.impl,), bench_options, folder)
    return timing.Turns((timing.bench_command(),), (options.baseline, options.impl), bench_options, folder)


def _against_a_run(options, bench_options, rule):
    """A saved run is another time, perhaps another load: nothing cancels, and disturbed samples decide nothing."""
    base = read_run(options.baseline)
    out = _folder(options) / "head.json"
    done = subprocess.run([timing.bench_command(), "bench", f"--impl={options.impl}", *bench_options, f"--out={out}"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (errors.GOOD, errors.FAILED, errors.INCONCLUSIVE) or not out.exists():
        raise CommandError(f"bench: exit code {done.returncode}", errors.INTERRUPTED if done.returncode < 0 else done.returncode or 2)
    head = read_run(out)
    check_comparable(base, head, False)
    name = head.implementations[0]
    of_base = name if name in base.implementations else base.implementations[0]
    return Comparison(Side(base, of_base), Side(head, name), False, rule)


def _count(options, bench_options, evidence):
    policy = options.policy.instructions
    if policy.decides == NEVER:
        evidence.no_counts = "the policy says never"
        return
    if options.baseline and _is_run(options.baseline):
        evidence.no_counts = "a saved run has none"
        return
    if timing.only(options.isolation, ("--untrusted",)):
        evidence.no_counts = "the counter cannot be confined, and --untrusted was given"
        return
    chosen = timing.only(bench_options, ("--threads", *ISOLATION))
    if policy.decides == ALWAYS:
        chosen += timing.only(bench_options, timing.CHOOSING)
    else:
        # Counting under Valgrind takes seconds for each call.
        unclear = [row.workload for row in evidence.rows if row.verdict == UNCLEAR and row.estimates]
        if not unclear:
            evidence.no_counts = "the times were clear"
            return
        chosen += [word for line in unclear for word in ("--case", line)]
    folder = _folder(options)
    if options.base_command:
        found = [counts.count(options.base_command, [options.impl] * 2, chosen, folder / "base.counts.jsonl"),
                 counts.count(timing.bench_command(), [options.impl], chosen, folder / "head.counts.jsonl")]
    else:
        found = [counts.count(timing.bench_command(), [options.baseline, options.baseline, options.impl], chosen,
                              folder / "counts.jsonl")]
    refusals = [one for one in found if isinstance(one, str)]
    sides = [side for one in found if not isinstance(one, str) for side in one.values()]
    if refusals or len(sides) != 3:
        evidence.no_counts = refusals[0] if refusals else f"{len(sides)} counts, expected base twice, and head"
        return
    base, control, head = sides
    evidence.counts = counts.rows_of(base, head, control, policy.min_effect)


if __name__ == "__main__":
    errors.run_command(main)
