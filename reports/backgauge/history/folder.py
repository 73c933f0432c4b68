# SPDX-License-Identifier: Apache-2.0
"""A history in a folder: a branch of a git repository, a bucket or a share."""

import os
import pathlib
import tempfile

from ..errors import CommandError


class Folder:
    def __init__(self, path, where):
        self.path, self.where = pathlib.Path(path), where

    def add(self, file):
        place = self.path / file.entry.measured.strftime("%Y-%m")
        path = place / file.name
        if path.exists():
            return path, False
        try:
            place.mkdir(parents=True, exist_ok=True)
            # A reader, or a copy that is made at this moment, sees the whole file or none: files() ignores other names.
            with tempfile.NamedTemporaryFile(dir=place, prefix=".", suffix=".part", delete=False) as part:
                part.write(file.text)
            os.chmod(part.name, 0o444)
            os.rename(part.name, path)
        except OSError as error:
            raise CommandError(f"{self.where}: cannot be written: {error.strerror or error}") from error
        return path, True

    def files(self):
        if not self.path.is_dir():
            raise CommandError(f"{self.where}: no such folder; backgauge history add makes one")
        for path in self.path.rglob("*.jsonl"):
            try:
                yield path, path.name, path.read_bytes()
            except OSError as error:
                raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from error
