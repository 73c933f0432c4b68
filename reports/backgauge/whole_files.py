# SPDX-License-Identifier: Apache-2.0
"""Folders that outlive a process: one writer at a time, and every file in them is there as a whole or not at all."""

import fcntl
import os

from .errors import CommandError


def locked(path, what):
    """Makes the folder, and holds it until the descriptor that is returned is closed, or the process ends. `what` is done there:
    "another campaign". Raises CommandError if the folder cannot be made, or is held already."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise CommandError(f"--out={path}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise CommandError(f"--out={path}: {what} is writing there") from error
    except OSError:
        pass  # some network file systems cannot lock folders
    return descriptor


def write_whole(file, content):
    """On input bytes, or text."""
    unfinished = file.with_name(file.name + ".unfinished")
    unfinished.write_bytes(content if isinstance(content, bytes) else content.encode())
    unfinished.rename(file)
