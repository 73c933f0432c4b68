# SPDX-License-Identifier: Apache-2.0
"""The progress of a bisect: DIR/state.json, written after each step, so that an interrupted one goes on without measuring
anything twice.

    DIR/state.json               settings; the ends; what was decided of each commit; how long each look took
    DIR/bisect.json              the result
    DIR/commits/ID/build.log     what the build printed
    DIR/commits/ID/run*.json     what bench wrote, one file for each look
    DIR/commits/ID/tree          the work tree, until the commit is decided
"""

import json
from dataclasses import dataclass, field

from ...errors import CommandError
from ...reading import explained, parse_object, read_text
from ...whole_files import write_whole
from .measurement import Ends, Measured, ends_of, measured_of
from .search import BAD, GOOD, SKIPPED

SCHEMA = "backgauge.bisect-state/1"


@dataclass(frozen=True)
class Tried:
    what: str  # GOOD, BAD or SKIPPED
    measured: Measured | None = None  # None: not built

    reason: str = ""  # why it was skipped


@dataclass
class State:
    path: object
    settings: dict
    built: list[str] = field(default_factory=list)  # commits whose work trees are built
    looks: dict = field(default_factory=dict)  # {commit: [[blocks, seconds] of each look]}
    ends: Ends | None = None
    tried: dict = field(default_factory=dict)  # {commit: Tried}, in the order of the decisions

    @property
    def decisions(self):
        return sum(each.what != SKIPPED for each in self.tried.values())

    def save(self):
        tried = {commit: {"what": each.what, "reason": each.reason, "measured": each.measured and each.measured.as_object()}
                 for commit, each in self.tried.items()}
        held = {"schema": SCHEMA, "settings": self.settings, "built": self.built, "looks": self.looks,
                "ends": self.ends and self.ends.as_object(), "tried": tried}
        write_whole(self.path, json.dumps(held, indent=1, allow_nan=False) + "\n")


def opened(folder, settings):
    """The state of the bisect in a folder, which is new, or holds one with the same settings. Raises CommandError for every other."""
    path = folder / "state.json"
    if not path.exists():
        if any(folder.iterdir()):
            raise CommandError(f"--out={folder}: expected a new folder, or that of a bisect; it has other files")
        return State(path, settings)
    state = _read(path)
    for key, value in settings.items():
        if state.settings.get(key) != value:
            # Before anything was measured, another --build may be tried.
            if not state.looks:
                return State(path, settings)
            raise CommandError(f"--out={folder}: holds another bisect: {key} {_words(state.settings.get(key))}, here {_words(value)}")
    return state


def _words(value):
    return " ".join(value) if isinstance(value, list) else value


def _read(path):
    try:
        held = parse_object(read_text(path))
        if held.get("schema") != SCHEMA:
            raise ValueError(f"expected schema {SCHEMA}, got {held.get('schema')}")
        tried = {commit: Tried(each["what"], each["measured"] and measured_of(each["measured"]), each["reason"])
                 for commit, each in held["tried"].items()}
        if not {GOOD, BAD, SKIPPED}.issuperset(each.what for each in tried.values()):
            raise ValueError("tried: expected good, bad or skipped")
        return State(path, dict(held["settings"]), list(held["built"]), dict(held["looks"]),
                     held["ends"] and ends_of(held["ends"]), tried)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"{path}: not the state of a bisect: {explained(error)}") from error
