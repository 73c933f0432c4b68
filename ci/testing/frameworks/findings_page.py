# SPDX-License-Identifier: Apache-2.0
"""The page of ci/findings, impl/FINDINGS.md, from what it found of each adapter."""
import collections
import re

from backgauge.markdown import escaped, markdown_table

NOT_A = "not of class A"  # as ci/testing/frameworks/alone/report.py has it
NO_DEVICE = "no CUDA device"  # as adapters of a device say it
STATUSES = ("PASSED", "FAILED", "BROKEN", "MISTRUSTED", "SKIPPED")

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# What the frameworks do

Written by `ci/findings build/dev/ci/backgauge`, from runs; do not edit. Each framework is judged through its adapter, a short file
that calls it as its users do. PYTHON in a reproducer is the interpreter that has the framework (`ci/install-deps --peers`). The example
of each kind of failure was judged again by the line below it, {of} times: *reproduced {of} of {of}* says how often it
failed again. *Flaky*: not always, or not when `verify` ran it alone.

A FAILED is not always a bug: a framework may document a limit that the op has not. So that no finding rests on the judge alone, each
is looked for once more by a script in ci/testing/frameworks/alone, which calls the framework and uses nothing of backgauge: what it saw is under
*Without backgauge*. PASSED, FAILED and the other words:
[verdicts](../properties/README.md#verdicts).

[What cuDNN computes](cudnn/COMPUTES.md) is about the differences between training on a CPU and on a GPU.
"""


def page(found, absent):
    of = next((kind["of"] for each in found for kind in each["kinds"]), 2)
    parts = [HEAD.format(of=of), versions(found, absent), "## Verdicts\n\n" + overview(found)]
    parts += [f"## {title(each)}\n\n" + findings(each) for each in found]
    if any("class_a" in each for each in found):
        parts.append("## Half and bfloat16 are not of class A\n\n" + class_a(found))
    parts += [f"## Malformed calls: {title(each)}\n\n" + malformed(each["malformed"], each.get("alone")) for each in found if "malformed" in each]
    return "\n".join(parts)


def title(each):
    return f"{each['name']} {each['run']['implementation_version']}"


def versions(found, absent):
    rows = [[each["name"], each["run"]["implementation_version"], each["python"], each["adapter"], tier(each), each["run"]["machine"],
             each["run"]["backgauge"], each["run"]["finished"][:10]] for each in found]
    head = ["name", "version", "Python", "adapter", "tier", "machine", "backgauge", "day"]
    rows += [[name, "not run: no device", *[""] * (len(head) - 2)] for name, why in absent.items() if why == NO_DEVICE]
    text = markdown_table(head, rows, [])
    for name, why in absent.items():
        if why != NO_DEVICE:
            text += f"\n\nSKIPPED: {name} ({why})."
    return text + "\n"


def tier(each):
    judged = each["planned"] - each["not_run"]
    return each["tier"] if each["not_run"] == 0 else f"{each['tier']}, {judged} of {each['planned']} cases"


def overview(found):
    rows = []
    for each in found:
        for op, dtype, counts in each["verdicts"]:
            rows.append([each["name"], op, dtype, *(str(counts.get(status, 0)) for status in STATUSES)])
    return markdown_table(["name", "op", "dtype", *STATUSES], rows, range(3, 8)) + "\n"


def findings(each):
    groups = groups_of(each["kinds"])
    return "\n".join(finding(why, kinds, each.get("alone")) for why, kinds in groups.items()) or "Nothing failed.\n"


def groups_of(kinds):
    """The kinds of failure, by what explains them, or else by their own names."""
    groups = collections.defaultdict(list)
    for kind in kinds:
        groups[kind["why"] or kind["kind"]].append(kind)
    return groups


def unexplained(each):
    """What the judge says of an adapter and the framework alone has not shown."""
    groups = [*groups_of(each["kinds"]), *groups_of(with_op(kind) for kind in each.get("malformed", {"kinds": []})["kinds"])]
    if each.get("class_a", {"kinds": []})["kinds"]:
        groups.append(NOT_A)
    return [why for why in groups if not any(line["confirmed"] for line in seen_alone(each.get("alone"), why))]


def seen_alone(alone, what):
    return [line for line in (alone or {"lines": []})["lines"] if line["what"] == what]


def without_backgauge(alone, what):
    lines = [f"{line['seen']}{'' if line['confirmed'] else ' (**not confirmed**)'}." for line in seen_alone(alone, what)]
    return f"Without backgauge (`{alone['script']}`): {escaped(' '.join(lines))}\n" if lines else "Without backgauge: **not looked for yet**.\n"


def finding(why, kinds, alone):
    cases = sum(kind["cases"] for kind in kinds)
    out = f"**{escaped(why)}**: {cases} {'case' if cases == 1 else 'cases'}"
    if why != kinds[0]["kind"]:
        out += f" ({'; '.join(escaped(kind['kind']) for kind in kinds)})"
    return f"{out}.\n\n" + example(max(kinds, key=lambda kind: kind["again"])) + "\n" + without_backgauge(alone, why)


def example(kind):
    again = f"reproduced {kind['again']} of {kind['of']}"
    if kind["flaky"] or kind["again"] < kind["of"]:
        again = f"flaky, {again}: it depends on something besides the case, such as what memory holds"
    lines = [line.rstrip() for line in kind["text"].strip().splitlines() if line.strip()]
    if kind["hint"]:
        lines.append(f"  hint: {kind['hint']}")
    return f"```\n{kind['repro']}\n" + "\n".join(lines) + f"\n```\n\n{kind['status']}, {again}.\n"


def class_a(found):
    rows, examples = [], []
    for each in found:
        if "class_a" not in each:
            continue
        for op, dtype, counts in each["class_a"]["verdicts"]:
            rows.append([each["name"], op, dtype, *(str(counts.get(status, 0)) for status in STATUSES)])
        kinds = each["class_a"]["kinds"]
        if kinds:
            examples.append(f"{title(each)}:\n\n" + example(kinds[0]) + "\n" + without_backgauge(each.get("alone"), NOT_A))
    text = ("The adapters declare class B, the result of every operation rounded; the verdicts above are by that class. Declared to be of class A, "
            "only outputs rounded, the same adapters give in tier smoke, as far as it was judged:\n\n")
    return text + markdown_table(["name", "op", "dtype", *STATUSES], rows, range(3, 8)) + "\n\n" + "\n".join(examples)


def malformed(found, alone):
    counts = collections.defaultdict(dict)
    for op, outcome, count in found["counts"]:
        counts[op][outcome] = count
    outcomes = sorted({outcome for each in counts.values() for outcome in each}, key=lambda word: (word != "refused", word != "accepted", word))
    rows = [[op, str(sum(each.values())), *(str(each.get(outcome, 0)) for outcome in outcomes)] for op, each in counts.items()]
    text = (f"`{found['adapter']}` gives TensorFlow the malformed calls of float32 with peepholes too: legal calls with one thing changed. Only those are counted "
            f"that arguments can say and that differ from a legal call in what the function sees{each_of(found['every'])}. An op should refuse each by an exception. "
            "*Accepted*: it returned outputs. The other columns: the process ended.\n\n")
    text += markdown_table(["op", "calls", *outcomes], rows) + "\n\nAccepted calls, by what was changed:\n\n" + accepted(found["accepted"])
    return text + "\n" + "\n".join(finding(why, kinds, alone) for why, kinds in groups_of(map(with_op, found["kinds"])).items())


def with_op(kind):
    return {**kind, "kind": f"{kind['kind'].split()[0]} accepted"} if kind["status"] == "FAILED" else kind


def each_of(every):
    return "" if every == 1 else f", and of these only one in {every}"


def accepted(descriptions):
    """A row for each tensor, with all that was changed in it."""
    groups = collections.defaultdict(list)
    for description in descriptions:
        op, what = description.split(" ", 1)[0], re.sub(r"-?\d{4,}", "a large number", description.split(": ", 1)[1])
        tensor, _, change = what.partition(": ")
        groups[op, tensor].append(change)
    rows = [[op, tensor, "; ".join(together(changes)), str(len(changes))] for (op, tensor), changes in sorted(groups.items())]
    return markdown_table(["op", "tensor", "what was changed", "calls"], rows, [3]) + "\n"


def together(changes):
    """`dimension 0 = 3` and `dimension 0 = 5` as `dimension 0 = 3, 5`."""
    values = collections.defaultdict(list)
    for change in changes:
        what, equals, value = change.partition(" = ")
        values[what + equals].append(value)
    return [what + ", ".join(each) for what, each in values.items()]
