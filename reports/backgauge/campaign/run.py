# SPDX-License-Identifier: Apache-2.0
"""A campaign from its first batch to its exit code."""

import collections
import concurrent.futures
import os
import pathlib
import subprocess

from .. import errors
from ..errors import CommandError
from ..quantities import counted
from . import judges
from .cluster import Cluster
from .folder import CampaignFolder
from .options import judging_words, verify_words
from .progress import Progress
from .seeds import Planner

# If there are several, the first one decides.
_WORST_FIRST = (errors.INTERRUPTED, errors.SELF_CHECK, errors.NOT_LOADED, errors.USAGE, errors.FAILED, errors.INCONCLUSIVE)


# The verdict on a seed of the full tier took 2.1 GiB (campaign_sample.py); half of the memory is for them.
_MEMORY_OF_A_VERDICT = 2.1 * 2**30


def _verdicts_at_once():
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(os.cpu_count(), int(memory / 2 / _MEMORY_OF_A_VERDICT)))


def run(options):
    planner = Planner(judging_words(options, options.impl))
    try:
        campaign = Campaign(options, planner)
        return campaign.run()
    finally:
        planner.close()


class Campaign:
    def __init__(self, options, planner):
        self._options, self._planner = options, planner
        settings = {"tier": options.tier, "seed": options.seed, "cases": options.cases, "ops": options.ops, "batch": options.batch, "run": planner.greeting}
        self._folder = CampaignFolder(options.out, settings, options.resume)
        self._progress = Progress(options.cases)
        # The number of missing batches of each seed that is still being judged.
        self._missing = {}
        self._verdicts = {}

    def run(self):
        file = pathlib.Path(self._options.impl)
        sent = (file.name, file.read_bytes()) if file.is_file() else None
        plugin = judges.Judges(self._folder.identifier, judging_words(self._options, "{file}" if sent else self._options.impl), sent,
                               self._planner.greeting)
        cluster = Cluster(self._options.scheduler, self._options.local or os.cpu_count(), plugin, self._progress)
        # Seeds are finished while the workers judge the next ones: on all cores, unless these are the workers.
        at_once = _verdicts_at_once() if self._options.scheduler else 1
        with concurrent.futures.ThreadPoolExecutor(max_workers=at_once) as self._finisher:
            try:
                cluster.deal(self._batches(), self._take)
                self._wait()
            except BaseException:
                self._finisher.shutdown(wait=False, cancel_futures=True)
                raise
        return self._conclude()

    def _wait(self):
        self._progress.workers, self._progress.phase = 0, "checks of the implementation"
        while concurrent.futures.wait(self._verdicts.values(), timeout=1).not_done:
            self._progress.show()

    def _batches(self):
        """Those that are not recorded yet."""
        planned, seed = 0, self._options.seed
        while planned < self._options.cases:
            folder = self._folder.seed(seed)
            run, batches = self._planner.batches(self._options.tier, seed, self._options.ops, self._options.batch)
            folder.begin(run)
            planned += run["plan"]["cases"]
            self._progress.total = max(self._options.cases, planned)
            todo = collections.deque() if folder.is_merged else collections.deque(batch for batch in batches if not folder.has(batch.index))
            del batches  # what was dealt out does not stay in memory
            self._progress.keep(run["plan"]["cases"] - sum(batch.cases for batch in todo))
            self._missing[seed] = len(todo)
            if not todo:
                self._finish(seed)
            while todo:
                yield todo.popleft()
            seed += 1

    def _take(self, batch, records, failed):
        self._folder.seed(batch.seed).add(batch.index, records)
        self._progress.done += batch.cases
        self._progress.failed += failed
        self._missing[batch.seed] -= 1
        if self._missing[batch.seed] == 0:
            self._finish(batch.seed)

    def _finish(self, seed):
        del self._missing[seed]
        self._verdicts[seed] = self._finisher.submit(self._verdict, seed)

    def _verdict(self, seed):
        """verify goes on where the batches end: it shrinks failures, checks the implementation as a whole, and writes the pages."""
        folder = self._folder.seed(seed)
        if folder.is_finished:
            return folder.verdict()[0]["exit_code"]
        if not folder.is_merged:
            folder.merge()
        words = [f"--tier={self._options.tier}", f"--seed={seed}", f"--out={folder.path}", "--shard=1/1", "--resume", *verify_words(self._options)]
        environment = os.environ | {"BACKGAUGE_OPS": "", "BACKGAUGE_MAX_TIME": ""}
        done = subprocess.run([judges.program(), "verify", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=environment)
        if done.returncode in (errors.USAGE, errors.NOT_LOADED):
            raise CommandError(done.stderr.strip().removeprefix("backgauge: "), done.returncode)
        self._progress.clear()
        print(done.stdout, flush=True)
        return done.returncode

    def _conclude(self):
        self._progress.clear()
        codes = [verdict.result() for verdict in self._verdicts.values()]
        code = next((code for code in _WORST_FIRST if code in codes), errors.GOOD)
        text = summary([(seed, *self._folder.seed(seed).verdict()) for seed in self._verdicts], self._options)
        (self._folder.path / "summary.md").write_text(text, encoding="utf-8")
        print(text, end="")
        return code


def summary(verdicts, options):
    """Markdown. verdicts: (seed, verdict, counts) of each seed."""
    counts = ("planned", "passed", "failed", "broken", "waived", "mistrusted", "skipped", "not_run")
    worst = max(verdicts, key=lambda each: each[1]["exit_code"] != errors.GOOD)[1]["word"]
    total = sum(count["planned"] for _, _, count in verdicts)
    lines = [f"**{worst}**: {counted(total, 'case')} of tier {options.tier}, {counted(len(verdicts), 'seed')}", "",
             f"| seed | verdict | {' | '.join(name.replace('_', ' ') for name in counts)} |", f"|{'---|' * (len(counts) + 2)}"]
    for seed, verdict, count in sorted(verdicts, key=lambda each: each[0]):
        lines.append(f"| [{seed}](seed-{seed}/index.html) | {verdict['word']} | {' | '.join(str(count[name]) for name in counts)} |")
    return "\n".join(lines) + "\n"
