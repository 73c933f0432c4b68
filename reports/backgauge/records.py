# SPDX-License-Identifier: Apache-2.0
"""Reads what `backgauge verify --out=DIR` wrote: the worst error / allowed error of every tensor (properties/README.md)."""

import math
import pathlib
from dataclasses import dataclass

from .case_line import parse_case_line
from .errors import CommandError
from .reading import amount, explained, parse_object, read_text, table, words

RECORD_SCHEMA = "backgauge.record/1"
_NO_NUMBER = (None, "inf", "-inf", "nan")


@dataclass(frozen=True)
class TensorRatio:
    implementation: str
    op: str
    dtype: str
    tensor: str
    ratio: float  # worst of all cases; > 1 failed
    workload: str  # the case in which it occurred
    cases: int


def records_file(path):
    """`DIR/records.jsonl` or the file itself; None if `path` is neither."""
    path = pathlib.Path(path)
    path = path / "records.jsonl" if path.is_dir() else path
    return path if path.name.endswith(".jsonl") and path.is_file() and _is_records(path) else None


def _is_records(path):
    with path.open("rb") as file:
        return f'"{RECORD_SCHEMA}"'.encode() in file.readline()


def _by_op(worst):
    """Tensors of an op stay in the order of the file, which is that of the contract."""
    return [TensorRatio(*key, *entry) for key, entry in sorted(worst.items(), key=lambda item: item[0][:3])]


def read_tensor_ratios(path):
    worst = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            _add_record(worst, parse_object(line))
        except (ValueError, KeyError) as error:
            raise CommandError(f"{path}:{number}: not a record of backgauge verify: {explained(error)}") from error
    return _by_op(worst)


def _add_record(worst, record):
    line, name = words(record, "id"), words(table(record, "impl"), "name")
    case = parse_case_line(line)
    tensors = table(record, "tensors", {})
    for tensor in tensors:
        seen = {"max_ratio": None} | table(tensors, tensor)
        # A ratio that JSON cannot hold is infinite: a wrong non-finite value.
        ratio = math.inf if seen["max_ratio"] in _NO_NUMBER else amount(seen, "max_ratio")
        _add(worst, (name, case.op, case.dtype, tensor), ratio, line)


def _add(worst, key, ratio, workload):
    old = worst.get(key, (-1.0, "", 0))
    worst[key] = (*((ratio, workload) if ratio > old[0] else old[:2]), old[2] + 1)


def ratios_of_rows(rows):
    """The same from the verdicts in a bench run."""
    worst = {}
    for row in rows:
        for tensor, ratio in row.tensors.items():
            _add(worst, (row.implementation, row.case.op, row.case.dtype, tensor), float(ratio), row.workload)
    return _by_op(worst)
