# SPDX-License-Identifier: Apache-2.0
"""Checks that a build for aarch64 plans the same cases as one for x86-64, with the same inputs, expected values and allowed errors.

    arm64_check.py COMMAND EMULATED...      EMULATED: the words that run the command of the other build

For float64, values are computed in long double, which has 64 digits of mantissa on x86-64 and 113 on aarch64. There, expected values
that differ are counted, and what is allowed, which is computed in double from those values, may differ by ALLOWED_DIFFERS.
"""
import array
import math
import pathlib
import subprocess
import sys
import tempfile

EVERY = 300  # of tier ci: about a hundred case lines, one process each on both sides

# Relative. What is allowed is made of sums and products of terms that are not negative, so each rounding, of a value to double or of
# a sum, moves it by at most 2^-53 of itself. A chain of fewer than 2^16 of them leads to each element in cases of these sizes.
ALLOWED_DIFFERS = 2.0**-37


def output(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"arm64_check: {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def answers(command, line, folder):
    output([*command, "oracle", f"--case={line}", f"--dir={folder}"])
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.npy"))}


def doubles(npy):
    """The elements of a file of version 1 that holds float64."""
    return array.array("d", npy[10 + int.from_bytes(npy[8:10], "little"):])


def nearly_equal(one, other):
    pairs = list(zip(doubles(one), doubles(other), strict=True))
    return all(math.isclose(a, b, rel_tol=ALLOWED_DIFFERS) or (math.isnan(a) and math.isnan(b)) for a, b in pairs)


def main():
    commands = [sys.argv[1]], sys.argv[2:]
    plans = [output([*command, "list", "--cases", "--as-planned", "--tier=smoke"]) for command in commands]
    if plans[0] != plans[1]:
        raise SystemExit("arm64_check: the plans of tier smoke differ: inputs depend on the processor")
    lines = output([*commands[0], "list", "--cases", "--as-planned", "--tier=ci"]).splitlines()[::EVERY]
    if len(lines) < 50:
        raise SystemExit(f"arm64_check: {len(lines)} case lines are too few")
    more_digits = 0
    for line in lines:
        with tempfile.TemporaryDirectory() as folder:
            here, there = (answers(command, line, pathlib.Path(folder) / name) for name, command in zip("xa", commands))
        if here.keys() != there.keys():
            raise SystemExit(f"arm64_check: {line}: other files")
        differing = [name for name in here if here[name] != there[name]]
        if " dt=f64 " in line:
            more_digits += any(name.startswith("want/") for name in differing)
            differing = [name for name in differing
                         if not name.startswith("want") and not (name.startswith("allowed/") and nearly_equal(here[name], there[name]))]
        if differing:
            raise SystemExit(f"arm64_check: {line}: other bits in {', '.join(differing)}")
    print(f"the same plan of tier smoke, {len(plans[0].splitlines())} cases, and the same expected values and allowed errors of {len(lines)} "
          f"cases of tier ci; in {more_digits} of them, all float64, an expected value differs, as long double does, and allowed errors may "
          f"differ by {ALLOWED_DIFFERS:.0e} of themselves")


if __name__ == "__main__":
    main()
