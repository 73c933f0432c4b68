# SPDX-License-Identifier: Apache-2.0
"""Commits: from git, or from options; and their order."""

import heapq
import re

from ..errors import CommandError
from . import git
from .entry import Commit, Entry, parse_time

_ID = re.compile(r"[0-9a-f]{7,64}")


def commit_of(options):
    """The commit that --commit names. --commit-time and --parents replace git, which is asked otherwise."""
    if options.commit_time is None:
        if options.parents is not None:
            raise CommandError("--parents: expected together with --commit-time; without it git is asked")
        return _from_git(options.commit, options.repository)
    if not _ID.fullmatch(options.commit):
        raise CommandError(f"--commit={options.commit}: expected the hexadecimal name of a commit, of 7 to 64 digits")
    parents = tuple(filter(None, (options.parents or "").split(",")))
    for parent in parents:
        if not _ID.fullmatch(parent):
            raise CommandError(f"--parents={options.parents}: {parent} is not the hexadecimal name of a commit")
    try:
        return Commit(options.commit, parse_time(options.commit_time), parents)
    except ValueError as error:
        raise CommandError(f"--commit-time={options.commit_time}: {error}") from error


def _from_git(name, repository):
    try:
        return git.commit(repository, name)
    except OSError as error:
        raise CommandError(f"--commit={name}: git cannot be started: {error.strerror}; without it give --commit-time "
                           "and --parents") from error
    except git.Failed as error:
        raise CommandError(f"--commit={name}: not a commit of the git repository {repository}; of another one "
                           "(--repository), or give --commit-time and --parents") from error


def ordered(entries: list[Entry]) -> list[Entry]:
    """Parents before children, otherwise by time: clocks of authors are wrong, and a rebased commit is old. Runs of one commit
    by when they were measured."""
    commits = {entry.commit.id: entry.commit for entry in entries}
    children, waiting = {}, {}
    for commit in commits.values():
        known = [parent for parent in commit.parents if parent in commits]
        waiting[commit.id] = len(known)
        for parent in known:
            children.setdefault(parent, []).append(commit.id)
    ready = [(commits[name].time, name) for name, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    place = {}
    while ready:
        _, name = heapq.heappop(ready)
        place[name] = len(place)
        for child in children.get(name, ()):
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, (commits[child].time, child))
    # Commits in a circle, which only wrong --parents can make, come last.
    return sorted(entries, key=lambda entry: (place.get(entry.commit.id, len(place)), entry.measured, entry.file))
