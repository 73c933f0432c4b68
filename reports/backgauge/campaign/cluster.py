# SPDX-License-Identifier: Apache-2.0
"""Deals batches to the workers of a Dask cluster. What a worker or a scheduler loses is dealt again."""

import collections
import contextlib
import logging
import pickle
import queue
import time
import zlib
from dataclasses import dataclass

import cloudpickle
import distributed

from ..errors import NOT_LOADED, SELF_CHECK, CommandError
from . import judges

# Batches under way for each thread of the cluster: one in work, and one waiting at the worker so that it never idles.
_AHEAD = 2
# How often a batch is dealt again after the process that judged it has died. (Dask itself gives a batch up after three dead
# workers: distributed.scheduler.allowed-failures.)
_MOST_DEATHS = 3
_PULSE = 2  # seconds between looks at the scheduler
_WAIT = 600  # seconds for a scheduler that was there to come back
_FIRST_WAIT = 10  # seconds for it to answer at all


@dataclass
class Batch:
    seed: int
    index: int  # of its first case, in the plan
    cases: int
    text: str  # as `backgauge batches` wrote it
    deaths: int = 0

    @property
    def key(self):
        return self.seed, self.index


# Schedulers and workers need not have this package: what is in that module is pickled as a copy.
cloudpickle.register_pickle_by_value(judges)


class _Copied:
    """A function of that module, in whatever Dask pickles by itself."""

    def __init__(self, original):
        self._original = original
        self._bytes = cloudpickle.dumps(original)

    def __reduce__(self):
        return pickle.loads, (self._bytes,)

    def __call__(self, *arguments, **named):
        return self._original(*arguments, **named)


class _Lost(Exception):
    """The scheduler has gone, and with it all that was under way."""


class Cluster:
    """`address`: of a scheduler; None: `threads` threads of this process."""

    def __init__(self, address, threads, plugin, progress):
        self._address, self._threads, self._plugin, self._progress = address, threads, plugin, progress
        # Dask's own messages about lost connections, with tracebacks, would be printed between those of the campaign.
        for name in list(logging.root.manager.loggerDict):
            if name.partition(".")[0] == "distributed":
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)

    def deal(self, batches, take):
        """Judges all Batches of an iterable, and calls take(batch, records, failed) once for each, in any order. Raises
        CommandError with USAGE for workers that cannot judge them, with SELF_CHECK if a batch is beyond them."""
        again, batches = collections.deque(), iter(batches)
        with self._scheduler() as address:
            wait, left = _FIRST_WAIT, True
            while left:
                with self._client(address, wait) as client:
                    wait = _WAIT
                    session = _Session(client, self._plugin, self._progress)
                    try:
                        session.deal(again, batches, take)
                        session.forget()
                        left = False
                    except _Lost:
                        again.extend(sorted(session.under_way.values(), key=lambda batch: batch.key))
                        self._progress.workers, self._progress.phase = 0, "the scheduler has gone, waiting for it"
                        self._progress.show()

    @contextlib.contextmanager
    def _scheduler(self):
        if self._address:
            yield self._address
            return
        with distributed.LocalCluster(n_workers=1, threads_per_worker=self._threads, processes=False, dashboard_address="127.0.0.1:0",
                                      memory_limit=0) as local:
            yield local

    @contextlib.contextmanager
    def _client(self, address, wait):
        deadline = time.monotonic() + wait
        client = None
        while client is None:
            try:
                client = distributed.Client(address, timeout=5, set_as_default=False)
            except (OSError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    raise CommandError(f"--scheduler={address}: no scheduler has answered for {wait} s", NOT_LOADED) from error
                self._progress.show()
                time.sleep(1)
        try:
            yield client
        finally:
            client.close(timeout=5)


class _Session:
    """One connection to a scheduler."""

    def __init__(self, client, plugin, progress):
        self._client, self._plugin, self._progress = client, plugin, progress
        self._judge = _Copied(judges.judge)
        self._ended = queue.SimpleQueue()
        self._next_look = 0
        self._tries = 0
        self.under_way = {}  # Future -> Batch

    def deal(self, again, batches, take):
        """Raises _Lost."""
        with _lost_with_the_scheduler():
            self._client.register_plugin(self._plugin)
        self._progress.phase = ""
        while True:
            self._look()
            while len(self.under_way) < max(1, _AHEAD * self._progress.workers):
                batch = again.popleft() if again else next(batches, None)
                if batch is None:
                    break
                self._submit(batch, again)
            if not self.under_way:
                return
            self._progress.show()
            self._collect(again, take)

    def forget(self):
        """The workers need nothing of this campaign any more."""
        with contextlib.suppress(OSError, TimeoutError):
            self._client.run(_Copied(judges.forget), self._plugin.name, on_error="ignore")
            self._client.unregister_worker_plugin(self._plugin.name)

    def _look(self):
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _PULSE
        with _lost_with_the_scheduler():
            self._progress.workers = sum(self._client.nthreads().values())

    def _submit(self, batch, again):
        oldest = min(each.key for each in [*self.under_way.values(), *again, batch])
        self._tries += 1
        future = self._client.submit(self._judge, self._plugin.name, *batch.key, batch.text, oldest, pure=False,
                                     key=f"judge-{batch.seed}-{batch.index}-{self._client.id}-{self._tries}")
        self.under_way[future] = batch
        future.add_done_callback(self._ended.put)

    def _collect(self, again, take):
        """Takes what has ended, after at most a second."""
        ended = []
        with contextlib.suppress(queue.Empty):
            ended.append(self._ended.get(timeout=1))
            while True:
                ended.append(self._ended.get_nowait())
        for future in ended:
            if future.status in ("cancelled", "lost"):
                raise _Lost
        good = [future for future in ended if future.status == "finished"]
        with _lost_with_the_scheduler():
            answers = self._client.gather(good)
        for future, answer in zip(good, answers):
            batch = self.under_way.pop(future)
            if "records" in answer:
                take(batch, zlib.decompress(answer["records"]), answer["failed"])
            else:
                self._deal_again(batch, answer, again)
        for future in ended:
            if future.status == "error":
                batch = self.under_way.pop(future)
                raise CommandError(f"the batch of seed {batch.seed} from case {batch.index} on: {_explained(future.exception())}", SELF_CHECK)

    def _deal_again(self, batch, answer, again):
        if "refused" in answer:
            raise CommandError(f"a worker cannot judge: {answer['refused']}", answer["code"])
        if "died" in answer:
            batch.deaths += 1
            if batch.deaths == _MOST_DEATHS:
                raise CommandError(f"the process that judged the batch of seed {batch.seed} from case {batch.index} on has died "
                                   f"{_MOST_DEATHS} times: {answer['died']}", SELF_CHECK)
        else:  # the worker has come before the plugin
            time.sleep(0.1)
        again.append(batch)


@contextlib.contextmanager
def _lost_with_the_scheduler():
    try:
        yield
    except (OSError, TimeoutError, distributed.client.FutureCancelledError) as error:
        raise _Lost from error


def _explained(error):
    if isinstance(error, distributed.KilledWorker):
        return f"{error.allowed_failures + 1} workers have died while they judged it"
    return f"{type(error).__name__}: {error}".partition("\n")[0]
