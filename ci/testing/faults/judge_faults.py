#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the judge itself: each is put into a copy of one source file, and the judge's own tests must turn red.

    judge_faults.py SOURCE_DIR BUILD_DIR [ID...]

BUILD_DIR is made by ninja and holds judge_test; nothing in either folder changes. Exit code 1 if a fault goes unnoticed.
"""
import pathlib
import subprocess
import sys

from fault_runner import Build, Fault, Product, run

JUDGE_TEST = Product("judge_test", "properties/judge/judge_test", "properties/judge", "properties/judge/", "-O1")

COMPARE = "properties/judge/compare/compare.cc"
RUN_VERDICTS = "properties/judge/compare/run_verdicts.cc"
VERDICT = "properties/judge/compare/verdict.cc"
INDEPENDENCE = "properties/judge/compare/independence.cc"
JUDGE = "properties/judge/judge.cc"
COMPARE_RUNS = "properties/judge/compare_runs.cc"
MASKS = "properties/judge/dropout_masks.cc"

# id, what is wrong, file, and the text as it is and as it becomes
FAULTS = [
    ("L2", "a NaN passes where a number is wanted", COMPARE,
     ("if (got_kind == Kind::kNan) return kWrongKind;", "if (got_kind == Kind::kNan) return kRight;")),
    ("L2b", "an infinity passes where a number is wanted", COMPARE,
     ("if (!within_overflow(got_kind, want, static_cast<long double>(allowed), largest)) return kWrongKind;", "")),
    ("L2c", "any value passes where a NaN is wanted", COMPARE,
     ("return got_kind == want_kind ? kRight : kWrongKind;", "return kRight;")),
    ("L3", "errors below the wanted value are not errors", COMPARE,
     ("std::fabs(static_cast<long double>(got) - want)", "std::max(static_cast<long double>(got) - want, 0.0L)")),
    ("L6", "an absolute threshold lets small errors pass", COMPARE,
     ("if (error == 0) return kRight;", "if (error < 1e-5L) return kRight;")),
    ("L6b", "twice the bound is allowed", COMPARE, ("if (ratio <= 1)", "if (ratio <= 2)")),
    ("L7", "elements that were never written count as compared", COMPARE,
     ("const bool missing = !unwritten.empty() && unwritten[k] != 0;", "const bool missing = false;")),
    ("L8", "the last element of a tensor is not compared", COMPARE,
     ("k < wanted.value.size(); ++k) {\n    const bool missing", "k + 1 < wanted.value.size(); ++k) {\n    const bool missing")),
    ("L8b", "the first element of a tensor is not compared", COMPARE,
     ("std::size_t k = 0; k < wanted.value.size(); ++k) {\n    const bool missing",
     "std::size_t k = 1; k < wanted.value.size(); ++k) {\n    const bool missing")),
    ("L8c", "the last output is never compared", RUN_VERDICTS,
     ('if (output.raw.name == "reserve_space") continue;',
     'if (output.raw.name == "reserve_space" || &output == &outputs.back()) continue;')),
    ("L8d", "only the first output decides", VERDICT,
     ("const auto bad = std::ranges::find_if(verdict.tensors,",
     "const auto bad = std::ranges::find_if(verdict.tensors.begin(), verdict.tensors.begin() + !verdict.tensors.empty(),")),
    ("L9", "the bound comes from the candidate's output", COMPARE,
     ("judge_element(got[k], wanted.value[k], wanted.allowed[k], largest)",
     "judge_element(got[k], wanted.value[k], wanted.allowed[k] + std::fabs(got[k]), largest)")),
    ("L10", "a case that is skipped counts as passed", JUDGE,
     ("if (!reason.empty()) return {Status::kSkipped, std::move(reason), {}};",
     "if (!reason.empty()) return {Status::kPassed, \"\", {}};")),
    ("L10b", "nothing compared counts as passed", VERDICT,
     ("if (vacuous != verdict.tensors.end() || verdict.tensors.empty()) {",
     "if (vacuous != verdict.tensors.end()) {")),
    ("L10c", "a bound that says nothing counts as evidence", COMPARE,
     ("report.vacuous = is_vacuous(found, dtype, declared);",
     "report.vacuous = false;")),
    ("L10d", "values that repeat count as random", INDEPENDENCE, ("constexpr std::size_t kMostRepeats = 3;", "constexpr std::size_t kMostRepeats = 1 << 30;")),
    ("L10e", "elements whose bound overflows count as those whose values do", VERDICT,
     ("open += tensor.elements - tensor.judged - tensor.unbounded;", "open += tensor.elements - tensor.judged;")),
    ("L11", "touched guards and inputs are not looked at", RUN_VERDICTS,
     ("if (!result.violations.empty()) {", "if (false) {")),
    ("L12", "two runs that differ are the same", RUN_VERDICTS,
     ("std::memcmp(&a.raw.bytes[e * unit], &b.raw.bytes[e * unit], unit) == 0", "true")),
    ("L13", "a status other than OK is no failure", RUN_VERDICTS,
     ("if (result.status == BACKGAUGE_OK) return std::nullopt;", "if (result.status >= BACKGAUGE_OK) return std::nullopt;")),
    ("L14", "a dropout mask may be anything", MASKS,
     ("if (n * divergence <= std::log(1e12)) return \"\";", "return \"\";")),
    ("L15", "a bound that is a NaN is a bound", COMPARE,
     ("wanted.allowed[k] >= 0) continue;", "!(wanted.allowed[k] < 0)) continue;")),
    ("L16", "other runs are not compared with the first", COMPARE_RUNS,
     ("if (difference.empty()) return std::nullopt;", "return std::nullopt;")),
    ("L17", "the forward is not compared", COMPARE_RUNS,
     ("  if (session.has_forward()) {\n    const Declared declared", "  if (false) {\n    const Declared declared")),
]


def tests_pass(build: Build, program: pathlib.Path, fault: Fault | None) -> bool:
    try:
        done = subprocess.run([program, "--gtest_brief=1", "--gtest_fail_fast"], capture_output=True, timeout=300, cwd=program.parent)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(run(__doc__, JUDGE_TEST, FAULTS, tests_pass))
