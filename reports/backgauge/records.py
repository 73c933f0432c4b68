# SPDX-License-Identifier: Apache-2.0
"""What `backgauge verify --out=DIR` wrote: the worst error / allowed of every tensor (properties/README.md)."""

import json
import pathlib
from dataclasses import dataclass

from .case_line import parse_case_line
from .errors import CommandError

RECORD_SCHEMA = "backgauge.record/1"


@dataclass(frozen=True)
class TensorRatio:
    implementation: str
    op: str
    dtype: str
    tensor: str
    ratio: float  # worst of all cases; > 1 failed
    workload: str  # where it was
    cases: int


def records_file(path):
    """`DIR/records.jsonl` or the file itself; None where `path` is neither."""
    path = pathlib.Path(path)
    path = path / "records.jsonl" if path.is_dir() else path
    return path if path.name.endswith(".jsonl") and path.is_file() and _is_records(path) else None


def _is_records(path):
    with path.open() as file:
        return f'"{RECORD_SCHEMA}"' in file.readline()


def _by_op(worst):
    """Tensors of an op stay in the order in which they came: that of the contract."""
    return sorted(worst.items(), key=lambda item: item[0][:3])


def read_tensor_ratios(path):
    worst = {}
    with open(path) as file:
        for number, line in enumerate(file, 1):
            try:
                _add_record(worst, json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise CommandError(f"{path}:{number}: not a record of backgauge verify: {error!r}") from error
    return [TensorRatio(*key, *entry) for key, entry in _by_op(worst)]


def _add_record(worst, record):
    case = parse_case_line(record["id"])
    for tensor, seen in record.get("tensors", {}).items():
        ratio = seen.get("max_ratio")
        # A ratio that JSON cannot hold is infinite: a wrong non-finite value.
        ratio = float("inf") if ratio is None else float(ratio)
        key = (record["impl"]["name"], case.op, case.dtype, tensor)
        old = worst.get(key, (-1.0, "", 0))
        top = (ratio, record["id"]) if ratio > old[0] else old[:2]
        worst[key] = (*top, old[2] + 1)


def ratios_of_rows(rows):
    """The same from the judge's verdicts inside a bench run."""
    worst = {}
    for row in rows:
        for tensor, ratio in row.tensors.items():
            key = (row.implementation, row.case.op, row.case.dtype, tensor)
            old = worst.get(key, (-1.0, "", 0))
            top = (float(ratio), row.workload) if float(ratio) > old[0] else old[:2]
            worst[key] = (*top, old[2] + 1)
    return [TensorRatio(*key, *entry) for key, entry in _by_op(worst)]
