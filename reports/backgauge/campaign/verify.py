# SPDX-License-Identifier: Apache-2.0
"""A whole campaign: `backgauge verify`, run from Python.

    result = backgauge.verify(my_function, op="CudnnRNNBackprop", dtypes=["f32"], tier="smoke")
    assert result, result
"""
import contextlib
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from backgauge.command import command
from backgauge.delivery import send
from backgauge.errors import FAILED, GOOD, INCONCLUSIVE, INTERRUPTED, NOT_LOADED, USAGE, HarnessError, InputError
from backgauge.implementation import Function, implements
from backgauge.result import Result


def verify(target: Any, op: str | Sequence[str] | None = None, *, dtypes: Sequence[str] | None = None, tier: str = "smoke",
           seed: int = 1, cases: str | Sequence[str] | None = None, out: str | os.PathLike[str] | None = None,
           jobs: int | None = None, timeout: str | None = None, max_time: str | None = None, shrink: bool = True,
           **claims: Any) -> Result:
    """Judges an implementation on a whole campaign, in worker processes, as `backgauge verify` does. Returns a Result.

    target    a function that takes the tensors and attributes of `op` by name, as described at backgauge.implements; a function
              that is decorated with it, or a list of those; or what --impl takes: the path of a Python file or of a shared
              library, or the name of a built-in implementation
    op        TensorFlow's name; with a path or a name, only this op (or list of ops) is judged
    dtypes    of a plain function: those that it computes; None: float32
    claims    of a plain function: the other arguments of backgauge.implements, such as device="cuda" and arrays="torch"
    tier, seed, cases, jobs, timeout, max_time
              options of the command: smoke, ci or full; a number; case lines that are judged instead of a tier; cases judged in
              parallel (default: the number of processors); limits of one call and of the run, such as "30s"
    out       folder that keeps records.jsonl and junit.xml
    shrink    False: failures are not made smaller

    A function must reach the worker processes: backgauge.delivery describes how. Raises InputError for what is wrong with the
    arguments or with the function as a declaration, HarnessError if the checker itself failed.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="backgauge-"))
        functions, call = _functions(target, op, dtypes, claims)
        if functions:
            implementation, ops = send(functions, folder), sorted({each.op for each in functions} - {"CudnnRNN"})
        else:
            implementation, ops = os.fspath(target), [op] if isinstance(op, str) else op or []
        written = pathlib.Path(out if out is not None else pathlib.Path(folder) / "out")
        words = [f"--impl={implementation}", f"--out={written}", f"--python={sys.executable}", "--isolate=on", "--shard=1/1",
                 f"--seed={seed}", *([f"--ops={','.join(ops)}"] if ops else [])]
        if cases is None:
            words.append(f"--tier={tier}")
        else:
            words += [f"--case={line}" for line in ([cases] if isinstance(cases, str) else cases)]
        words += [f"--{name}={value}" for name, value in (("jobs", jobs), ("timeout", timeout), ("max-time", max_time)) if value is not None]
        words += [] if shrink else ["--no-shrink"]
        # What a pipeline has set for its own runs would leave cases out of this one.
        environment = {**os.environ, "BACKGAUGE_OPS": "", "BACKGAUGE_MAX_TIME": ""}
        done = subprocess.run([command(), "verify", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env=environment)
        _raise_unless_judged(done, implementation if functions else None)
        return Result(written, done.stdout, done.returncode == GOOD, _Repro(implementation, call))


def _functions(target, op, dtypes, claims):
    """The functions to be sent, none if `target` is the name of an implementation; and the beginning of a call that sends them."""
    if isinstance(target, (str, os.PathLike)):
        if dtypes is not None or claims:
            raise InputError("verify: dtypes and claims are declared in a file by @backgauge.implements, or by a library itself")
        return [], ""
    several = list(target) if isinstance(target, (list, tuple)) else [target]
    if several and all(isinstance(each, Function) for each in several):
        if dtypes is not None or claims or op not in (None, several[-1].op):
            raise InputError(f"verify: {several[-1].name} declares op, dtypes and claims itself, by @backgauge.implements")
        names = ", ".join(each.name for each in several)
        return several, f"backgauge.verify({f'[{names}]' if len(several) > 1 else names}"
    if not callable(target):
        raise InputError(f"verify: expected a function, functions decorated with @backgauge.implements, a path or a name, got {target!r}")
    if not isinstance(op, str):
        raise InputError("verify: op: expected TensorFlow's name of the op that the function computes, such as op=\"BlockLSTMGradV2\"")
    declared = {"dtypes": ["f32"] if dtypes is None else dtypes, **claims}
    function = implements(op, **declared)(target)
    return [function], f"backgauge.verify({', '.join([function.name, f'op={op!r}', *(f'{k}={v!r}' for k, v in declared.items())])}"


def _raise_unless_judged(done, temporary):
    """`temporary`: the file of the implementation, if its user does not know it."""
    if done.returncode in (GOOD, FAILED, INCONCLUSIVE):
        return
    text = done.stderr.strip().removeprefix("backgauge: ") or done.stdout.strip()
    if done.returncode in (USAGE, NOT_LOADED):
        raise InputError(text.partition("\n")[0].removeprefix(f"{temporary}: "))
    if done.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    raise HarnessError(f"backgauge verify ended with {done.returncode}: {text}")


class _Repro:
    """How a case of this run is run again: by the command, or, where that would name a temporary file, by a call of verify."""

    def __init__(self, implementation, call):
        self.implementation, self.call = shlex.quote(str(implementation)), call

    def of(self, line):
        """A check of the implementation as a whole is a part of every call."""
        if not self.call:
            return self._command(line)
        return f"{self.call})" if line.startswith("check: ") else f"{self.call}, cases=[{line!r}])"

    def in_text(self, text, lines):
        """What the command wrote of these cases, with calls in place of commands."""
        calls = {f"  repro: {self._command(line)}": f"  repro: {self.of(line)}" for line in lines}
        return "\n".join(calls.get(each, each) for each in text.split("\n"))

    def _command(self, line):
        return f"backgauge repro '{line}' --impl={self.implementation}"
