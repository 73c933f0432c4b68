# SPDX-License-Identifier: Apache-2.0
"""Queries to git. Every function raises Failed, or OSError if git cannot be started."""

import subprocess

from .entry import Commit, parse_time


class Failed(Exception):
    """What git wrote to stderr, in one line, and its exit code."""

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


def run(repository, *words):
    """What it prints, without the newline at the end."""
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise Failed(" ".join(done.stderr.split()), done.returncode)
    return done.stdout.removesuffix("\n")


def commit(repository, name):
    # A commit without parents ends in an empty line.
    text = run(repository, "show", "--no-patch", "--format=%H%n%cI%n%P", "--end-of-options", f"{name}^{{commit}}")
    full, time, parents = (text.split("\n") + [""])[:3]
    return Commit(full, parse_time(time), tuple(parents.split()))


def top(repository):
    """The folder of its work tree; of a bare one, its own."""
    bare = run(repository, "rev-parse", "--is-bare-repository") == "true"
    return run(repository, "rev-parse", "--absolute-git-dir" if bare else "--show-toplevel")


def is_ancestor(repository, old, new):
    try:
        run(repository, "merge-base", "--is-ancestor", old, new)
    except Failed as error:
        if error.code != 1:
            raise
        return False
    return True


def first_parents(repository, old, new):
    """(id, subject) of each commit after `old` up to `new`, the oldest first."""
    text = run(repository, "log", "--first-parent", "--reverse", "--format=%H %s", f"{old}..{new}")
    return [tuple(line.split(" ", 1)) for line in filter(None, text.split("\n"))]


def subject(repository, name):
    return run(repository, "log", "-1", "--format=%s", name)


def add_worktree(repository, folder, name):
    """Checks out a commit there. Forced: the folder may have been removed without git knowing."""
    run(repository, "worktree", "add", "--force", "--detach", str(folder), name)


def remove_worktree(repository, folder):
    """Removes a work tree, even if its folder has been deleted already."""
    run(repository, "worktree", "remove", "--force", "--force", str(folder))
