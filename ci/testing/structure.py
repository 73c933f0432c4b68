#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what would make a new op or dtype expensive: files that name an op, and arithmetic on enumerators.

    structure.py ROOT

Prints each rule that is broken, with the places, and exits with 1."""
import re
import subprocess
import sys
from pathlib import Path

# An op is named where its call, its equations, its faults and its witness are. Everything else asks for its traits
# (reference/contract/op_spec.h), so that a fourth op needs no search for places that forgot it.
MOST_FILES_THAT_NAME_AN_OP = 10
OP = re.compile(r"\bBACKGAUGE_(LSTM_BLOCK_CELL_GRAD|BLOCK_LSTM_GRAD_V2|CUDNN_RNN|CUDNN_RNN_BACKPROP)\b")
ENUMERATOR = r"BACKGAUGE_(HALF|FLOAT32|FLOAT64|RNN_\w+|LSTM|GRU|UNIDIRECTIONAL|BIDIRECTIONAL|\w+_INPUT|AUTO_SELECT|CLASS_\w+)\b"
ARITHMETIC = re.compile(rf"[-+] *{ENUMERATOR}|{ENUMERATOR} *[-+]")


def sources(root: Path) -> list[Path]:
    names = subprocess.run(["git", "ls-files", "*.h", "*.cc", "*.inc"], cwd=root, check=True, capture_output=True, text=True)
    return [Path(name) for name in names.stdout.splitlines()]


def is_product(path: Path) -> bool:
    return path.parts[0] != "impl" and not path.stem.endswith("_test") and "testing" not in path.parts


def complaints(root: Path) -> list[str]:
    out, naming = [], []
    for path in sources(root):
        if not is_product(path):
            continue
        text = (root / path).read_text()
        if OP.search(text):
            naming.append(str(path))
        for number, line in enumerate(text.splitlines(), 1):
            if ARITHMETIC.search(line.split("//")[0]):
                out.append(f"{path}:{number}: arithmetic on an enumerator: {line.strip()}")
    if len(naming) > MOST_FILES_THAT_NAME_AN_OP:
        out.append(f"{len(naming)} files name an op, at most {MOST_FILES_THAT_NAME_AN_OP} may: {', '.join(naming)}")
    return out


def main() -> int:
    found = complaints(Path(sys.argv[1]))
    for complaint in found:
        print(f"lint: {complaint}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
