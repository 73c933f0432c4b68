# SPDX-License-Identifier: Apache-2.0
"""backgauge history bisect, from its options to the result and an exit code."""

import json
import os
import pathlib
import subprocess
import sys

from ... import errors
from ...compare import timing
from ...compare.verdict import FASTER, SAME, SLOWER, Rule
from ...errors import CommandError
from ...whole_files import locked, write_whole
from .. import git
from . import state as states
from .builds import Builds, NotBuilt
from .measurement import RememberedTurns, measure, measure_ends
from .result import Result
from .search import SKIPPED, next_commit
from .state import Tried


def bisect(options):
    try:
        repository, commits = _range(options)
        _check(options)
        folder = pathlib.Path(options.out).absolute()
        lock = locked(folder, "another bisect")
        try:
            return _Bisect(options, repository, folder, commits).run()
        finally:
            os.close(lock)
    except KeyboardInterrupt:
        raise CommandError("interrupted; the same command goes on where this one stopped", errors.INTERRUPTED) from None


def _range(options):
    """The repository, and (id, subject) of the good end and of every commit that may be the first bad one."""
    try:
        repository = git.top(options.repository)
    except OSError as error:
        raise CommandError(f"git cannot be started: {error.strerror}") from error
    except git.Failed as error:
        raise CommandError(f"--repository={options.repository}: not a git repository") from error
    good, bad = (_commit(repository, f"--{which}", getattr(options, which)) for which in ("good", "bad"))
    if good == bad:
        raise CommandError(f"--good={options.good} and --bad={options.bad} are the same commit, {good[:10]}: nothing to look for")
    if not git.is_ancestor(repository, good, bad):
        raise CommandError(f"--good={options.good}: not an ancestor of --bad={options.bad} in {repository}")
    return repository, [(good, git.subject(repository, good)), *git.first_parents(repository, good, bad)]


def _commit(repository, option, name):
    try:
        return git.commit(repository, name).id
    except git.Failed as error:
        raise CommandError(f"{option}={name}: not a commit of {repository}") from error


def _check(options):
    """What would be found only after the ends are built."""
    if pathlib.PurePath(options.impl).is_absolute() or ".." in pathlib.PurePath(options.impl).parts:
        raise CommandError(f"--impl={options.impl}: expected the path of a file that the build makes, below the work tree")
    for option, path in (("--impl", options.impl), ("--out", options.out)):
        if "," in path:
            raise CommandError(f"{option}={path}: expected a path without a comma, which separates implementations")
    done = subprocess.run([timing.bench_command(), "bench", "--benchmark_list_tests", *options.rest], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(done.stderr.strip().removeprefix("backgauge: "), done.returncode)


class _Bisect:
    def __init__(self, options, repository, folder, commits):
        self._options, self._repository, self._folder, self._commits = options, repository, folder, commits
        self._good, self._bad = commits[0][0], commits[-1][0]
        self._state = states.opened(folder, {
            "repository": repository, "good": self._good, "bad": self._bad, "build": options.build, "impl": options.impl,
            "bench": options.rest, "min_effect": options.min_effect, "mean_effect": options.mean_effect, "alpha": options.alpha})
        self._state.save()
        self._builds = Builds(repository, folder, options.build, options.impl, self._state)
        self._rule = Rule(options.min_effect, options.alpha, options.mean_effect)
        self._patience = timing.Patience(options.until_clear)

    def run(self):
        if self._state.ends is None:
            self._measure_ends()
        result = Result(self._commits, self._state, self._options.alpha)
        while result.is_slower and (k := next_commit(result.known)) is not None:
            self._try(k, result.known)
            result = Result(self._commits, self._state, self._options.alpha)
        self._builds.remove(self._good)
        text = json.dumps(result.as_object(), indent=1, allow_nan=False)
        write_whole(self._folder / "bisect.json", text + "\n")
        print(text if self._options.format == "json" else result.text())
        return _exit_code(self._state.ends)

    def _measure_ends(self):
        for option, commit in (("--good", self._good), ("--bad", self._bad)):
            self._say(f"building {commit[:10]}, the {option.removeprefix('--')} end")
            self._end(option, commit)
        self._say("timing the ends")
        self._state.ends = measure_ends(self._turns(self._bad, self._options.rest), self._patience, self._rule)
        self._decided(self._bad)

    def _end(self, option, commit):
        try:
            return self._builds.implementation(commit)
        except NotBuilt as error:
            for end in (self._good, self._bad):
                self._builds.remove(end)
            raise CommandError(f"{option}={commit[:10]}: {error}") from error

    def _try(self, k, now):
        commit, subject = self._commits[k]
        self._say(f"{len(now.possible)} commits left; building and timing {commit[:10]} {subject}")
        try:
            self._builds.implementation(commit)
        except NotBuilt as error:
            self._state.tried[commit] = Tried(SKIPPED, None, str(error))
        else:
            ends = self._state.ends
            turns = self._turns(commit, ends.options(self._options.rest))
            measured = measure(turns, self._patience, self._rule, ends, self._state.decisions + 1)
            self._state.tried[commit] = Tried(measured.side or SKIPPED, measured, measured.reason)
        self._say(f"{commit[:10]} is {self._state.tried[commit].what}")
        self._decided(commit)

    def _turns(self, commit, bench_options):
        """Times the good end and this commit in turns; earlier times are kept."""
        looks = self._state.looks

        def remember(of_commit):
            looks[commit] = of_commit
            self._state.save()

        pair = self._end("--good", self._good), self._builds.implementation(commit)
        turns = RememberedTurns((timing.bench_command(),), tuple(map(str, pair)), bench_options, self._builds.folder(commit))
        return turns.recall(looks.get(commit, []), remember)

    def _decided(self, commit):
        self._builds.remove(commit)
        self._state.save()

    @staticmethod
    def _say(text):
        if sys.stderr.isatty():
            print(f"backgauge: {text}", file=sys.stderr, flush=True)


def _exit_code(ends):
    if ends.verdict in (SAME, FASTER):
        return errors.GOOD
    if ends.verdict == SLOWER:
        return errors.SLOWER
    return errors.FAILED if ends.lost else errors.INCONCLUSIVE
