# SPDX-License-Identifier: Apache-2.0
"""The folder of a campaign.

    DIR/campaign.json                   what is judged; an identifier
    DIR/seed-N/run.json                 as verify writes it
    DIR/seed-N/batches/INDEX.jsonl      the records of a batch, INDEX being the place of its first case in the plan
    DIR/seed-N/records.jsonl            when all batches are there: all records, in the order of the plan
    DIR/seed-N/summary.json and others  what verify writes at its end

Every file is there as a whole or not at all, whenever the process ends.
"""
import json
import pathlib
import secrets
import shutil

from ..errors import FAILED, GOOD, INCONCLUSIVE, CommandError
from ..reading import explained, parse_object, read_text, table
from ..whole_files import locked, write_whole

_SCHEMA = "backgauge.campaign/1"


class CampaignFolder:
    """Raises CommandError if it cannot be written, another process writes there, it holds a campaign and `resume` is False, or
    another campaign. `settings`: what a campaign must have in common with the one that it resumes."""

    def __init__(self, path, settings, resume):
        self.path, file = pathlib.Path(path), pathlib.Path(path) / "campaign.json"
        self._lock = locked(self.path, "another campaign")
        if not file.exists():
            write_whole(file, json.dumps({"schema": _SCHEMA, "id": secrets.token_hex(8)} | settings, indent=1) + "\n")
        elif not resume:
            raise CommandError(f"--out={path}: holds a campaign; --resume goes on with it")
        held = _campaign(file)
        for key, value in settings.items():
            if held.get(key) != value:
                raise CommandError(f"--resume: {path} holds another campaign: {key} {held.get(key)}, here {value}")
        self.identifier = held["id"]

    def seed(self, seed):
        return SeedFolder(self.path / f"seed-{seed}")


class SeedFolder:
    def __init__(self, path):
        self.path, self.batches = path, path / "batches"

    @property
    def is_finished(self):
        """Whether verify has come to its end here, and was neither interrupted nor in trouble itself."""
        return (self.path / "summary.json").exists() and self.verdict()[0]["exit_code"] in (GOOD, FAILED, INCONCLUSIVE)

    @property
    def is_merged(self):
        return (self.path / "records.jsonl").exists()

    def begin(self, run):
        """run: as the program describes it. Raises CommandError if the folder is of another run."""
        self.batches.mkdir(parents=True, exist_ok=True)
        file = self.path / "run.json"
        if not file.exists():
            write_whole(file, json.dumps(run) + "\n")
        elif (held := _read(file)) != run:
            key = next(key for key in {**held, **run} if held.get(key) != run.get(key))
            raise CommandError(f"--resume: {self.path} holds another run: {key} {held.get(key)}, here {run.get(key)}")

    def has(self, index):
        return self._file(index).exists()

    def add(self, index, records):
        write_whole(self._file(index), records)

    def merge(self):
        """All batches become records.jsonl. One of them at a time is in memory."""
        unfinished = self.path / "records.jsonl.unfinished"
        with unfinished.open("wb") as out:
            for file in sorted(self.batches.glob("*.jsonl"), key=lambda file: int(file.stem)):
                with file.open("rb") as records:
                    shutil.copyfileobj(records, out)
        unfinished.rename(self.path / "records.jsonl")
        shutil.rmtree(self.batches)

    def verdict(self):
        """The verdict and the counts of summary.json."""
        file = self.path / "summary.json"
        summary = _read(file)
        try:
            return table(summary, "verdict"), table(summary, "counts")
        except (KeyError, ValueError) as error:
            raise CommandError(f"{file}: {explained(error)}") from error

    def _file(self, index):
        return self.batches / f"{index}.jsonl"


def _campaign(file):
    held = _read(file)
    if held.get("schema") != _SCHEMA or not isinstance(held.get("id"), str):
        raise CommandError(f"{file}: expected schema {_SCHEMA}, got {held.get('schema')}")
    return held


def _read(file):
    try:
        return parse_object(read_text(file))
    except ValueError as error:
        raise CommandError(f"{file}: {error}") from error
