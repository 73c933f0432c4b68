#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the judge itself: each is put into a copy of one source file, and the judge's own tests must turn red.

    judge_faults.py SOURCE_DIR BUILD_DIR [ID...]

BUILD_DIR is made by ninja and holds judge_test; nothing in either folder changes. Exit code 1 if a fault goes unnoticed.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

COMPARE = "properties/judge/compare/compare.cc"
RUN_VERDICTS = "properties/judge/compare/run_verdicts.cc"
VERDICT = "properties/judge/compare/verdict.cc"
JUDGE = "properties/judge/judge.cc"
COMPARE_RUNS = "properties/judge/compare_runs.cc"
MASKS = "properties/judge/dropout_masks.cc"

# id, what is wrong, file, text as it is, text as it becomes
FAULTS = [
    ("L2", "a NaN passes where a number is wanted", COMPARE,
     "if (got_kind == Kind::kNan) return kWrongKind;", "if (got_kind == Kind::kNan) return kRight;"),
    ("L2b", "an infinity passes where a number is wanted", COMPARE,
     "if (!within_overflow(got_kind, want, static_cast<long double>(allowed), largest)) return kWrongKind;", ""),
    ("L2c", "any value passes where a NaN is wanted", COMPARE,
     "return got_kind == want_kind ? kRight : kWrongKind;", "return kRight;"),
    ("L3", "errors below the wanted value are not errors", COMPARE,
     "std::fabs(static_cast<long double>(got) - want)", "std::max(static_cast<long double>(got) - want, 0.0L)"),
    ("L6", "an absolute threshold lets small errors pass", COMPARE,
     "if (error == 0) return kRight;", "if (error < 1e-5L) return kRight;"),
    ("L6b", "twice the bound is allowed", COMPARE, "if (ratio <= 1)", "if (ratio <= 2)"),
    ("L7", "elements that were never written count as compared", COMPARE,
     "const bool missing = !unwritten.empty() && unwritten[k] != 0;", "const bool missing = false;"),
    ("L8", "the last element of a tensor is not compared", COMPARE,
     "k < wanted.value.size(); ++k) {\n    const bool missing", "k + 1 < wanted.value.size(); ++k) {\n    const bool missing"),
    ("L8b", "the first element of a tensor is not compared", COMPARE,
     "std::size_t k = 0; k < wanted.value.size(); ++k) {\n    const bool missing",
     "std::size_t k = 1; k < wanted.value.size(); ++k) {\n    const bool missing"),
    ("L8c", "the last output is never compared", RUN_VERDICTS,
     'if (output.raw.name == "reserve_space") continue;',
     'if (output.raw.name == "reserve_space" || &output == &outputs.back()) continue;'),
    ("L8d", "only the first output decides", VERDICT,
     "const auto bad = std::ranges::find_if(verdict.tensors,",
     "const auto bad = std::ranges::find_if(verdict.tensors.begin(), verdict.tensors.begin() + !verdict.tensors.empty(),"),
    ("L9", "the bound comes from the candidate's output", COMPARE,
     "judge_element(got[k], wanted.value[k], wanted.allowed[k], largest)",
     "judge_element(got[k], wanted.value[k], wanted.allowed[k] + std::fabs(got[k]), largest)"),
    ("L10", "a case that is skipped counts as passed", JUDGE,
     "if (!reason.empty()) return {Status::kSkipped, std::move(reason), {}};",
     "if (!reason.empty()) return {Status::kPassed, \"\", {}};"),
    ("L10b", "nothing compared counts as passed", VERDICT,
     "if (vacuous != verdict.tensors.end() || verdict.tensors.empty()) {",
     "if (vacuous != verdict.tensors.end()) {"),
    ("L10c", "a bound that says nothing counts as evidence", COMPARE,
     "report.vacuous = !found.all_determined && !(found.median >= least_resolution(dtype, declared));",
     "report.vacuous = false;"),
    ("L11", "touched guards and inputs are not looked at", RUN_VERDICTS,
     "if (!result.violations.empty()) {", "if (false) {"),
    ("L12", "two runs that differ are the same", RUN_VERDICTS,
     "std::memcmp(&a.raw.bytes[e * unit], &b.raw.bytes[e * unit], unit) == 0", "true"),
    ("L13", "a status other than OK is no failure", RUN_VERDICTS,
     "if (result.status == BACKGAUGE_OK) return std::nullopt;", "if (result.status >= BACKGAUGE_OK) return std::nullopt;"),
    ("L14", "a dropout mask may be anything", MASKS,
     "if (n * divergence <= std::log(1e12)) return \"\";", "return \"\";"),
    ("L15", "a bound that is a NaN is a bound", COMPARE,
     "wanted.allowed[k] >= 0) continue;", "!(wanted.allowed[k] < 0)) continue;"),
    ("L16", "other runs are not compared with the first", COMPARE_RUNS,
     "if (difference.empty()) return std::nullopt;", "return std::nullopt;"),
    ("L17", "the forward is not compared", COMPARE_RUNS,
     "  if (session.has_forward()) {\n    const Declared declared", "  if (false) {\n    const Declared declared"),
]


def tests_pass(program: pathlib.Path) -> bool:
    try:
        done = subprocess.run([program, "--gtest_brief=1", "--gtest_fail_fast"], capture_output=True, timeout=300, cwd=program.parent)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


class Build:
    """How the build directory compiles one file and links judge_test."""

    def __init__(self, source: pathlib.Path, build: pathlib.Path):
        self.source, self.build = source, build
        entries = json.loads((build / "compile_commands.json").read_text())
        self.compile = {str(pathlib.Path(entry["file"]).relative_to(source)): entry["command"] for entry in entries
                        if pathlib.Path(entry["file"]).is_relative_to(source)}
        commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "judge_test"], check=True,
                                  capture_output=True, text=True).stdout.splitlines()
        self.link = next(line for line in reversed(commands) if " -o properties/judge/judge_test " in line)
        self.link = self.link.split(" && ")[1]

    def program_with(self, name: str, text: str, folder: pathlib.Path) -> pathlib.Path | None:
        """judge_test with another text for one file. None if it does not compile.

        What an object file defines is not taken from the library that has the right one."""
        changed, wrong, program = folder / pathlib.Path(name).name, folder / "wrong.o", folder / "judge_test"
        changed.write_text(text)
        words = shlex.split(self.compile[name])
        words[words.index("-o") + 1] = str(wrong)
        words[-1] = str(changed)
        words += ["-O1", "-Wno-error"]
        if subprocess.run(words, cwd=self.build, capture_output=True).returncode != 0:
            return None
        words = shlex.split(self.link)
        words[words.index("-o") + 1] = str(program)
        words.insert(words.index("-o"), str(wrong))
        subprocess.run(words, cwd=self.build, check=True, capture_output=True)
        return program


def outcome(build: Build, fault: tuple) -> str:
    _, _, name, was, becomes = fault
    text = (build.source / name).read_text()
    if text.count(was) != 1:
        return f"STALE: {name} no longer holds this text once: {was}"
    with tempfile.TemporaryDirectory() as folder:
        program = build.program_with(name, text.replace(was, becomes), pathlib.Path(folder))
        if program is None:
            return "STALE: does not compile"
        return "UNNOTICED" if tests_pass(program) else "noticed"


def passes_without_fault(build: Build) -> bool:
    with tempfile.TemporaryDirectory() as folder:  # made in the same way, with nothing wrong
        program = build.program_with(COMPARE, (build.source / COMPARE).read_text(), pathlib.Path(folder))
        return program is not None and tests_pass(program)


def main() -> int:
    build = Build(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
    faults = [fault for fault in FAULTS if not sys.argv[3:] or fault[0] in sys.argv[3:]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        right = pool.submit(passes_without_fault, build)
        outcomes = list(pool.map(lambda fault: outcome(build, fault), faults))
    if not right.result():
        print("the judge's tests fail without any fault", file=sys.stderr)
        return 1
    for fault, result in zip(faults, outcomes):
        print(f"{result:<9} {fault[0]:<5} {fault[1]}")
    noticed = outcomes.count("noticed")
    print(f"faults of the judge: {noticed} of {len(faults)} noticed")
    return 0 if noticed == len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
