# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster on loopback, whose processes a test may kill."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class LoopbackCluster:
    """A scheduler, and workers of one thread each; what a service manager starts again when it ends, start_worker() does."""

    def __init__(self, folder, environment):
        self.folder, self.environment = pathlib.Path(folder), environment | {"DASK_LOGGING__DISTRIBUTED": "error"}
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler, self.workers = None, []
        self.start_scheduler()

    def start_scheduler(self):
        self.scheduler = self._start("scheduler", "--host=127.0.0.1", f"--port={self.port}", "--no-dashboard")

    def start_worker(self, *options):
        worker = self._start("worker", self.address, "--nthreads=1", "--no-dashboard", "--no-nanny", "--memory-limit=0",
                             f"--local-directory={self.folder}", *options)
        self.workers.append(worker)
        return worker

    def kill(self, process):
        process.kill()
        process.wait()

    def stop(self):
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        for process in [*self.workers, self.scheduler]:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.kill(process)

    def _start(self, program, *options):
        log = (self.folder / f"{program}.log").open("ab")
        with log:
            return subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_" + program, *options], stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=log, env=self.environment)
