# SPDX-License-Identifier: Apache-2.0
"""Whether a build for aarch64 plans the same cases as one for x86-64, with the same inputs, and expects and allows the same bits.

    arm64_check.py COMMAND EMULATED...      EMULATED: the words that run the command of the other build

For float64, values are computed in long double, which has 64 digits of mantissa on x86-64 and 113 on aarch64: there only what is
allowed must be equal, and expected values that differ are counted.
"""
import pathlib
import subprocess
import sys
import tempfile

EVERY = 300  # of tier ci: about a hundred case lines, one process each on both sides


def output(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"arm64_check: {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def answers(command, line, folder):
    output([*command, "oracle", f"--case={line}", f"--dir={folder}"])
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.npy"))}


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
            differing = [name for name in differing if not name.startswith("want")]
        if differing:
            raise SystemExit(f"arm64_check: {line}: other bits in {', '.join(differing)}")
    print(f"the same plan of tier smoke, {len(plans[0].splitlines())} cases, and the same expected values and allowed errors of {len(lines)} "
          f"cases of tier ci; in {more_digits} of them, all float64, an expected value differs, as long double does")


if __name__ == "__main__":
    main()
