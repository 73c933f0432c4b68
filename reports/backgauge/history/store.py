# SPDX-License-Identifier: Apache-2.0
"""The store of a history: a folder of immutable files, or the tables of a database, which hold the same files.

A file is named after its contents, so that two runners never write the same name with different contents, adding a run twice is
adding it once, and the union of two histories is their merge. A store has

    where         how messages name it
    add(file)     adds a File; (where it is now, whether it is new)
    files()       triples of (how messages name a file, its name, its bytes), in any order
"""

import hashlib
import re
from dataclasses import dataclass

from ..errors import CommandError
from ..reading import explained
from . import entry as entries
from .entry import Entry
from .folder import Folder

_NAME = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{1,12}-([0-9a-f]{16})\.jsonl")


@dataclass(frozen=True)
class File:
    name: str
    text: bytes
    entry: Entry


def opened(options):
    """The store that --history or --database names."""
    return at(options.database, "--database") if options.database else at(options.history, "--history")


def at(place, option):
    """`place`: a folder, or the address of a database; `option`: what messages call it."""
    if "://" not in place:
        return Folder(place, f"{option}={place}")
    from .database import Database  # needs a library that folders do without
    return Database(place, option)


def add(store, entry: Entry):
    """(where the entry is now, whether it is new)."""
    text = entries.text_of(entry).encode()
    time = entry.measured.strftime("%Y%m%dT%H%M%SZ")
    return store.add(File(f"{time}-{entry.commit.id[:12]}-{digest(text)}.jsonl", text, entry))


def digest(text):
    return hashlib.sha256(text).hexdigest()[:16]


def read(store) -> list[Entry]:
    """All entries, in the order of their names. Raises CommandError for a history without any, and for a file that is not
    what was once added."""
    return [file.entry for file in read_files(store)]


def read_files(store) -> list[File]:
    found = {name: (where, name, text) for where, name, text in store.files()}
    if not found:
        raise CommandError(f"{store.where}: contains no runs; backgauge history add adds one")
    return [_checked(*found[name]) for name in sorted(found)]


def _checked(where, name, text):
    parts = _NAME.fullmatch(name)
    if not parts:
        raise CommandError(f"{where}: not a name of backgauge history add")
    if digest(text) != parts[1]:
        raise CommandError(f"{where}: its contents are not those that were added: their digest is {digest(text)}")
    try:
        return File(name, text, entries.read_entry(text.decode(), name))
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{where}: not an entry of backgauge history: {explained(error)}") from error


def copy(source, target):
    """Adds all files of one store to the other; (how many there are, how many were new)."""
    files = read_files(source)
    return len(files), sum(target.add(file)[1] for file in files)
