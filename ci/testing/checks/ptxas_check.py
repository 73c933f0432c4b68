#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what ptxas says of kernels (-Xptxas -v) with a table of limits.

    ptxas_check.py BUILD [--limits=FILE] [--list]

Reads the logs beside the objects of a build folder, *.cu.o.log, which ci/testing/checks/log-beside writes.
Exit code 0: every kernel of the logs keeps to its row. 1: one does not, an object has no log, or there is none."""

import argparse
import dataclasses
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

LIMITS = pathlib.Path(__file__).with_name("ptxas_limits.txt")


@dataclasses.dataclass
class Kernel:
    mangled: str
    target: str  # sm_90
    name: str = ""  # as the table has it
    registers: int = -1
    stack: int = -1
    spill_stores: int = -1
    spill_loads: int = -1

    def is_complete(self):
        return min(self.registers, self.stack, self.spill_stores, self.spill_loads) >= 0


@dataclasses.dataclass
class Limit:
    registers: int
    pattern: str
    reason: str


def parse_log(text):
    """The kernels that ptxas speaks of. Lines of one file are never mixed with those of another: ninja prints the output
    of a command as a whole."""
    kernels = []
    for line in text.splitlines():
        if match := re.search(r"Compiling entry function '(\S+)' for '(sm_\w+)'", line):
            kernels.append(Kernel(*match.groups()))
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            # Between the lines of a kernel, ptxas also reports functions that are not kernels; their numbers add to the kernel's.
            if kernels:
                stack, stores, loads = map(int, match.groups())
                kernel = kernels[-1]
                kernel.stack = max(kernel.stack, 0) + stack
                kernel.spill_stores = max(kernel.spill_stores, 0) + stores
                kernel.spill_loads = max(kernel.spill_loads, 0) + loads
        elif (match := re.search(r"Used (\d+) registers", line)) and kernels:
            kernels[-1].registers = int(match.group(1))
    return kernels


def parse_limits(text):
    limits = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\d+) (.+?) \| (.+)", line)
        if not match:
            raise ValueError(f"not a row of limits: {line}")
        limits.append(Limit(int(match.group(1)), match.group(2), match.group(3)))
    return limits


def demangled(names):
    if not names:
        return []
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def short_name(name):
    """"void backgauge::cuda::run_kernel<backgauge::cuda::Fill<float> >(...)" -> "Fill<float>"."""
    name = re.sub(r"\(anonymous namespace\)::|_GLOBAL__N__\w+::", "", name)
    name = re.sub(r"\b(?:\w+::)+", "", name)
    name = re.sub(r"^void ", "", name)
    name = re.sub(r"\((?![^<]*>).*\)$", "", name)  # parameters
    if match := re.fullmatch(r"(?:run_kernel|run_clusters)<(.*?) ?>", name):
        name = match.group(1)
    return name.replace(" >", ">")


def named(kernels):
    for kernel, name in zip(kernels, demangled([kernel.mangled for kernel in kernels])):
        kernel.name = short_name(name)
    return kernels


def faults(kernels, limits):
    """One line for each thing that is wrong."""
    if not kernels:
        return ["no kernel in the logs: were they made with -Xptxas=-v?"]
    out = []
    for kernel in kernels:
        what = f"{kernel.name} for {kernel.target}"
        if not kernel.is_complete():
            out.append(f"{what}: ptxas does not say what it uses")
            continue
        if kernel.spill_stores or kernel.spill_loads:
            out.append(f"{what}: spills {kernel.spill_stores} bytes, loads {kernel.spill_loads} back")
        if kernel.stack:
            out.append(f"{what}: {kernel.stack} bytes of stack")
        limit = next((row for row in limits if fnmatch.fnmatchcase(kernel.name, row.pattern)), None)
        if limit is None:
            out.append(f"{what}: {kernel.registers} registers, and no row of limits for it")
        elif kernel.registers > limit.registers:
            out.append(f"{what}: {kernel.registers} registers, more than {limit.registers} ({limit.reason})")
    return out


def compiled_by_nvcc(build):
    """The objects that the build has made by nvcc; the same sources are also compiled for the host."""
    commands = json.loads((build / "compile_commands.json").read_text())
    nvcc = (re.search(r" -o (\S+)", one["command"]) for one in commands if re.search(r"\bnvcc\b", one["command"]))
    return sorted(path for match in nvcc if (path := build / match[1]).exists())


def main():
    parser = argparse.ArgumentParser(description="Compares what ptxas says of kernels with a table of limits.")
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("--limits", type=pathlib.Path, default=LIMITS)
    parser.add_argument("--list", action="store_true", help="also print every kernel with its registers")
    arguments = parser.parse_args()
    objects = compiled_by_nvcc(arguments.build)
    logs = {path: path.with_name(path.name + ".log") for path in objects}
    kernels = named([kernel for log in logs.values() if log.exists() for kernel in parse_log(log.read_text(errors="replace"))])
    if arguments.list:
        for kernel in sorted(kernels, key=lambda k: (k.name, k.target)):
            print(f"{kernel.registers:4} {kernel.target:7} {kernel.name}")
    wrong = [f"{path}: no log: was it compiled through log-beside?" for path, log in logs.items() if not log.exists()]
    wrong += faults(kernels, parse_limits(arguments.limits.read_text()))
    for line in wrong:
        print(f"ptxas_check: {line}", file=sys.stderr)
    print(f"ptxas_check: {len(kernels)} kernels, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
