# SPDX-License-Identifier: Apache-2.0
"""The policy of a gate: what counts as slower, what is required, what may stay unclear. README.md describes the file."""

import fnmatch
from dataclasses import dataclass, fields, replace

from ..case_line import OP_NAMES, parse_case_line
from ..errors import CommandError
from ..quantities import UNITS
from ..reading import read_toml

FORBID, COUNTS, ALLOW = "forbid", "counts", "allow"
ALWAYS, NEVER = "always", "never"

NAME = "backgauge.toml"  # in the current folder, if no other is named


@dataclass(frozen=True)
class Time:
    min_effect: float = 0.03  # of one workload
    mean_effect: float = 0.01  # of the geometric mean over all
    alpha: float = 0.01  # the probability of a false SLOWER in the whole run
    unclear: str = ALLOW  # a workload that stays UNCLEAR; counts: allowed if the instructions are not MORE
    missing: str = FORBID  # a workload that base has and head does not
    new: str = ALLOW  # a workload that head has and base does not


@dataclass(frozen=True)
class Instructions:
    min_effect: float = 0.005  # counts repeat to 0.1 %, so that half a percent is five times their noise
    decides: str = "unclear"  # when MORE is red: if time leaves the workload UNCLEAR; always; never


@dataclass(frozen=True)
class Verify:
    tier: str = "smoke"
    required: bool = True  # false: only the workloads that are timed are judged


@dataclass(frozen=True)
class Claims:
    looser: str = FORBID  # claims of head that are fewer or looser than those of base


@dataclass(frozen=True)
class Workload:
    """A rule for some workloads. The first one that matches counts; what it leaves out is that of the whole."""

    op: str = ""
    suite: str = ""
    match: str = ""  # a pattern of the case line, as in a shell
    min_effect: float | None = None
    unclear: str | None = None
    missing: str | None = None
    new: str | None = None
    budget: float | None = None  # seconds of a call that head may take at most

    def matches(self, line, suite):
        case = parse_case_line(line)
        return ((not self.op or self.op in (case.op, OP_NAMES.get(case.op)))
                and (not self.suite or self.suite == suite)
                and (not self.match or fnmatch.fnmatch(line, self.match)))


@dataclass(frozen=True)
class Policy:
    source: str = ""  # the file; empty for the defaults
    time: Time = Time()
    instructions: Instructions = Instructions()
    verify: Verify = Verify()
    claims: Claims = Claims()
    workloads: tuple[Workload, ...] = ()

    def of(self, line, suite) -> Workload:
        """The rule for a workload, complete but for its budget."""
        found = next((one for one in self.workloads if one.matches(line, suite)), Workload())
        defaults = {name: getattr(self.time, name) for name in ("min_effect", "unclear", "missing", "new")
                    if getattr(found, name) is None}
        return replace(found, **defaults)


def read_policy(path):
    """Raises CommandError, which names the table and the key."""
    found = read_toml(path)
    sections = {"time": Time, "instructions": Instructions, "verify": Verify, "claims": Claims}
    for name in found:
        if name not in (*sections, "workload"):
            raise CommandError(f"{path}: {name}: expected [time], [instructions], [verify], [claims] or [[workload]]")
    made = {name: _section(path, f"[{name}]", kind, found.get(name, {})) for name, kind in sections.items()}
    workloads = found.get("workload", [])
    if not isinstance(workloads, list):
        raise CommandError(f"{path}: workload: expected [[workload]], which may be repeated")
    rules = tuple(_section(path, f"[[workload]] {number}", Workload, one) for number, one in enumerate(workloads, 1))
    return Policy(str(path), **made, workloads=rules)


_WORDS = {"unclear": (ALLOW, COUNTS, FORBID), "missing": (ALLOW, FORBID), "new": (ALLOW, FORBID), "looser": (ALLOW, FORBID),
          "decides": ("unclear", ALWAYS, NEVER), "tier": ("smoke", "ci", "full"),
          "op": tuple(OP_NAMES.values())}


def _section(path, where, kind, found):
    if not isinstance(found, dict):
        raise CommandError(f"{path}: {where}: expected a table")
    known = [one.name for one in fields(kind)]
    for key in found:
        if key not in known:
            raise CommandError(f"{path}: {where} {key}: expected one of {', '.join(known)}")
    try:
        return kind(**{key: _value(key, value) for key, value in found.items()})
    except ValueError as error:
        raise CommandError(f"{path}: {where} {error}") from error


def _value(key, value):
    if key in ("min_effect", "mean_effect", "alpha"):
        most = 0.5 if key == "alpha" else 1.0
        number = _share(value)
        if number is None or not 0 < number < most:
            raise ValueError(f"{key} = {value!r}: expected a share such as \"3%\" or 0.03, below {most:g}")
        return number
    if key == "budget":
        number, _, unit = str(value).partition(" ")
        try:
            seconds = float(number) * UNITS[unit]
        except (ValueError, KeyError):
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            raise ValueError(f"budget = {value!r}: expected a time such as \"2.5 ms\"")
        return seconds
    if key == "required":
        if not isinstance(value, bool):
            raise ValueError(f"required = {value!r}: expected true or false")
        return value
    if not isinstance(value, str) or (key in _WORDS and value not in _WORDS[key]):
        expected = "one of " + ", ".join(_WORDS[key]) if key in _WORDS else "text"
        raise ValueError(f"{key} = {value!r}: expected {expected}")
    return value


def _share(value):
    try:
        text = str(value)
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return None
