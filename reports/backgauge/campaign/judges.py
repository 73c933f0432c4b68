# SPDX-License-Identifier: Apache-2.0
"""The code that runs on a Dask worker: processes of `backgauge batches`, one for each of its threads.

It is sent to the worker as a copy (cluster.py). So it may import only what a worker has without this package: Python's library
and Dask.

    <scratch folder of Dask>/backgauge/files/<SHA-256>/libmine.so        the file of --impl
    <scratch folder of Dask>/backgauge/<campaign>/<seed>-<index>.jsonl   records of a batch, until the campaign has them

Records go into a file as their cases end. If the worker or the scheduler dies, `backgauge batches` goes on to the end of its batch;
the next worker on that machine that gets the batch waits for it, and reuses the records.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import zlib

from distributed import WorkerPlugin, get_worker


class Judges(WorkerPlugin):
    """A plugin of workers.

    campaign  its identifier
    words     arguments of `backgauge batches`; {file} in them is replaced by the path of the file that was sent
    file      (name, bytes) of the implementation, or None
    greeting  how the coordinator's own process describes the implementation and itself
    """

    idempotent = True  # workers that have it keep it: the name says what is in it

    def __init__(self, campaign, words, file, greeting):
        self.campaign, self.words, self.file, self.greeting = campaign, words, file, greeting
        self.digest = hashlib.sha256(file[1]).hexdigest() if file else ""
        content = json.dumps([campaign, words, self.digest, greeting])
        self.name = f"backgauge-{hashlib.sha256(content.encode()).hexdigest()[:16]}"

    def setup(self, worker):
        scratch = pathlib.Path(worker.local_directory).parent / "backgauge"
        self.folder, self.mine, self.processes = scratch / self.campaign, threading.local(), []
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.file:
            path = str(_kept(scratch / "files" / self.digest, *self.file))
            self.words, self.file = [word.replace("{file}", path) for word in self.words], None

    def teardown(self, worker):
        for process in self.processes:
            process.stdin.close()  # it ends after its batch
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.child.wait(timeout=1)  # does not wait for one that is judging

    def records(self, seed, index, batch, recorded):
        """The answer to `batch`: {"records": compressed, "kept", "failed"}; or {"refused": why, "code": exit code} if this
        worker cannot judge it; or {"died": how} if the process did not survive it. `recorded`: (seed, index) below which the
        campaign has all records."""
        for file in self.folder.glob("*.jsonl"):
            if tuple(map(int, file.stem.split("-"))) < recorded:
                file.unlink(missing_ok=True)
        file = self.folder / f"{seed}-{index}.jsonl"
        try:
            answer = self._process().answer(f'{{"file": {json.dumps(str(file))}, "batch": {batch}}}')
            return answer | {"records": zlib.compress(file.read_bytes(), 1)}
        except Refused as error:
            return {"refused": str(error), "code": error.code}
        except (Died, FileNotFoundError) as error:
            return {"died": str(error)}

    def _process(self):
        process = getattr(self.mine, "process", None)
        if process is None or process.ended:
            process = self.mine.process = Process(program(), self.words)
            self.processes.append(process)
            refuse_differences(process.greeting, self.greeting)
        return process


class Refused(Exception):
    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


class Died(Exception):
    pass


class Process:
    """`backgauge batches`. Raises Refused or Died."""

    # Options of other runs that a machine may have set.
    _UNSET = ("IMPL", "ISOLATE", "MEMORY_LIMIT", "OPS", "THREADS", "TIMEOUT")

    def __init__(self, path, words):
        self.errors = tempfile.TemporaryFile()
        environment = os.environ | {f"BACKGAUGE_{name}": "" for name in self._UNSET}
        # In a session of its own: Ctrl-C ends the campaign, and the process ends when its stdin does.
        self.child = subprocess.Popen([path, "batches", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                      env=environment, start_new_session=True)
        self.ended, self.stdin = False, self.child.stdin
        self.greeting = self.line()

    def answer(self, request):
        try:
            self.stdin.write(request.encode() + b"\n")
            self.stdin.flush()
        except (OSError, ValueError):  # ended, or closed by teardown()
            self._raise_ending()
        return self.line()

    def line(self):
        """The next line of its output as an object."""
        return json.loads(self.text())

    def text(self):
        text = self.child.stdout.readline()
        if not text.endswith(b"\n"):
            self._raise_ending()
        return text.decode()

    def close(self):
        self.ended = True
        self.stdin.close()
        self.child.wait()
        self.child.stdout.close()
        self.errors.close()

    def _raise_ending(self):
        self.ended = True
        with contextlib.suppress(OSError):
            self.stdin.close()
        code = self.child.wait()
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip().removeprefix("backgauge: ")
        self.child.stdout.close()
        self.errors.close()
        if code in (2, 3):
            raise Refused(text, code)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise Died(f"{how}: {text}" if text else how)


def program():
    """The program backgauge of this machine. Raises Refused."""
    path = os.environ.get("BACKGAUGE_COMMAND")
    if not path:
        try:
            from backgauge.command import command
            path = command()
        except Exception:  # no such package here, or no program with it
            path = shutil.which("backgauge")
    if not path or not os.access(path, os.X_OK):
        raise Refused("the program backgauge was not found: set BACKGAUGE_COMMAND, install it with pip, or put it on the PATH", 3)
    return path


def refuse_differences(there, here):
    """Raises Refused if a worker's process is not of the coordinator's build, or has another implementation."""
    for what, keys in (("backgauge", ["version"]), ("build of backgauge", ["command"]), ("implementation", ["impl", "name"]),
                       ("version of the implementation", ["impl", "version"]), ("file of the implementation", ["impl", "library"])):
        theirs, ours = there, here
        for key in keys:
            theirs, ours = theirs.get(key, {}), ours.get(key, {})
        if theirs != ours:
            raise Refused(f"{what} {theirs or '(none)'}, the campaign has {ours or '(none)'}: all machines need the same build of backgauge")


def _kept(folder, name, content):
    """The path of a file with this content, made unless it is there."""
    path = folder / name
    if not path.is_file() or path.read_bytes() != content:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as unfinished:
            unfinished.write(content)
        os.chmod(unfinished.name, 0o755)
        os.replace(unfinished.name, path)
    return path


def judge(name, seed, index, batch, recorded):
    """The task of Dask: Judges.records() of the plugin of this name; {"absent": True} on a worker that does not have it yet."""
    judges = get_worker().plugins.get(name)
    return judges.records(seed, index, batch, recorded) if judges else {"absent": True}


def forget(name, dask_worker):
    """At the end of a campaign."""
    judges = dask_worker.plugins.get(name)
    if judges:
        shutil.rmtree(judges.folder, ignore_errors=True)
