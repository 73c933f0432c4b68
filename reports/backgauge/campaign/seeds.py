# SPDX-License-Identifier: Apache-2.0
"""The cases of a campaign: the whole tiers of consecutive seeds. A million of them are the same cases everywhere: what each seed
has is a function of tier, ops and seed, and the first seed, and the last, are not cut."""

import contextlib
import json

from ..errors import SELF_CHECK, CommandError
from . import judges
from .cluster import Batch


class Planner:
    """Asks the program on this machine. Raises CommandError."""

    def __init__(self, words):
        with _explained():
            self._process = judges.Process(judges.program(), words)
        self.greeting = self._process.greeting

    def batches(self, tier, seed, ops, work):
        """The run, as run.json describes it, and its Batches. work: of a batch, in milliseconds of `plain`."""
        with _explained():
            answer = self._process.answer(json.dumps({"tier": tier, "seed": seed, "ops": ops, "work": work}))
            run, first = answer["run"], answer["first"]
            texts = [self._process.text().rstrip("\n") for _ in first]
        ends = [*first[1:], run["plan"]["cases"]]
        return run, [Batch(seed, index, end - index, text) for index, end, text in zip(first, ends, texts)]

    def close(self):
        self._process.close()


@contextlib.contextmanager
def _explained():
    try:
        yield
    except judges.Refused as error:
        raise CommandError(str(error), error.code) from error
    except judges.Died as error:
        raise CommandError(f"backgauge batches: {error}", SELF_CHECK) from error
