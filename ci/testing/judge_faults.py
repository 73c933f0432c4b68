#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the judge itself: each is put into a copy of the sources, and the judge's own tests must turn red.

    judge_faults.py SOURCE_DIR BUILD_DIR [ID...]

BUILD_DIR is kept from run to run: only what a fault touches is compiled again. Exit code 1 if a fault goes unnoticed.
"""
import os
import pathlib
import shutil
import subprocess
import sys

COMPARE = "properties/judge/compare.cc"
FINDINGS = "properties/judge/findings.cc"
VERDICT = "properties/judge/verdict.cc"
RESOLUTION = "properties/judge/resolution.cc"
JUDGE = "properties/judge/judge.cc"
ARENA = "properties/judge/arena.cc"
CLAIMS = "properties/judge/claims.cc"

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
    ("L8c", "the last output is never compared", FINDINGS,
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
    ("L11", "touched guards and inputs are not looked at", FINDINGS,
     "if (!result.violations.empty()) {", "if (false) {"),
    ("L12", "two runs that differ are the same", FINDINGS,
     "std::memcmp(&a.raw.bytes[e * unit], &b.raw.bytes[e * unit], unit) == 0", "true"),
    ("L13", "a status other than OK is no failure", FINDINGS,
     "if (result.status == BACKGAUGE_OK) return std::nullopt;", "if (result.status >= BACKGAUGE_OK) return std::nullopt;"),
    ("L14", "a dropout mask may be anything", FINDINGS,
     "if (n * divergence <= std::log(1e12)) return \"\";", "return \"\";"),
    ("L15", "a bound that is a NaN is a bound", COMPARE,
     "wanted.allowed[k] >= 0) continue;", "!(wanted.allowed[k] < 0)) continue;"),
]


def copy_sources(source: pathlib.Path, copy: pathlib.Path) -> None:
    """Brings the copy up to date without touching files that are the same, so that they are not compiled again."""
    names = subprocess.run(["git", "-C", str(source), "ls-files", "-co", "--exclude-standard"], check=True,
                           capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, names):
        here, there = source / name, copy / name
        if not here.is_file() or (there.is_file() and there.read_bytes() == here.read_bytes()):
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(here, there)


def build(build_dir: pathlib.Path) -> bool:
    done = subprocess.run(["cmake", "--build", str(build_dir), "--target", "judge_test"], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout[-3000:], done.stderr[-1000:], file=sys.stderr)
    return done.returncode == 0


def tests_pass(build_dir: pathlib.Path) -> bool:
    try:
        done = subprocess.run([build_dir / "properties/judge/judge_test", "--gtest_brief=1"], capture_output=True,
                              timeout=300)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    source, base = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    chosen = sys.argv[3:]
    copy, build_dir = base / "source", base / "build"
    copy_sources(source, copy)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    # Nothing here is timed, and warnings are not the point: what compiles fastest is best.
    subprocess.run(["cmake", "-S", copy, "-B", build_dir, "-G", "Ninja", "-Wno-dev", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DBACKGAUGE_TESTS=ON", *launcher], check=True,
                   stdout=subprocess.DEVNULL)
    if not build(build_dir) or not tests_pass(build_dir):
        print("the judge's tests fail without any fault", file=sys.stderr)
        return 1
    unnoticed = []
    for identity, what, name, was, becomes in FAULTS:
        if chosen and identity not in chosen:
            continue
        path = copy / name
        text = path.read_text()
        if text.count(was) != 1:
            print(f"{identity}: {name} no longer holds this text once: {was}", file=sys.stderr)
            return 1
        path.write_text(text.replace(was, becomes))
        try:
            if not build(build_dir):
                print(f"{identity}: does not compile", file=sys.stderr)
                return 1
            noticed = not tests_pass(build_dir)
        finally:
            path.write_text(text)
        print(f"{'noticed ' if noticed else 'UNNOTICED'} {identity:<5} {what}", flush=True)
        if not noticed:
            unnoticed.append(identity)
    print(f"faults of the judge: {len(unnoticed)} unnoticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    os.environ.setdefault("CCACHE_NOHASHDIR", "1")
    sys.exit(main())
