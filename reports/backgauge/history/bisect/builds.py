# SPDX-License-Identifier: Apache-2.0
"""Checks commits out and builds them, each in a git worktree of its own: nothing of another commit is left there."""

import pathlib
import shutil
import subprocess

from ...errors import CommandError
from .. import git


class NotBuilt(Exception):
    """Why a commit has no implementation."""


class Builds:
    def __init__(self, repository, folder, command, implementation, state):
        """`command`: for the shell. `implementation`: the path of what it builds, below the work tree."""
        self._repository, self._folder, self._command = repository, pathlib.Path(folder), command
        self._implementation, self._state = implementation, state

    def folder(self, commit):
        return self._folder / "commits" / commit[:12]

    def implementation(self, commit):
        """Its path. Builds the commit if that has not been done. Raises NotBuilt."""
        folder, tree = self.folder(commit), self.folder(commit) / "tree"
        path = tree / self._implementation
        if commit in self._state.built and path.exists():
            return path
        self.remove(commit)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            git.add_worktree(self._repository, tree, commit)
        except git.Failed as error:
            raise CommandError(f"git worktree add {tree}: {error}") from error
        with open(folder / "build.log", "wb") as log:
            done = subprocess.run(["sh", "-c", self._command], cwd=tree, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        if done.returncode:
            raise NotBuilt(f"the build failed with exit code {done.returncode}; {log.name} has what it printed")
        if not path.exists():
            raise NotBuilt(f"--impl={self._implementation}: not there after the build; {log.name} has what it printed")
        self._state.built.append(commit)
        self._state.save()
        return path

    def remove(self, commit):
        """The work tree; the other files of the commit stay."""
        tree = self.folder(commit) / "tree"
        if commit in self._state.built:
            self._state.built.remove(commit)
        if tree.exists():
            try:
                git.remove_worktree(self._repository, tree)
            except git.Failed:  # git does not know it: it was moved, or interrupted
                shutil.rmtree(tree)
