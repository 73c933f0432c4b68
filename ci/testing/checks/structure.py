#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what would make a new op or dtype expensive: files that name an op or ask for its facts, a choice of two ways by a
fact, and arithmetic on enumerators. Checks that
the table of what an addition touches in CONTRIBUTING.md is true of one example of each row, that READMEs are
short, that the targets of links between documents exist, that CMake names no path outside of the repository and
hides no steps of a build, that no folder is crowded, that the rooms of a folder keep their order, and that READMEs name
every file.

    structure.py ROOT

Prints each rule that is broken, with the places, and exits with 1."""
import re
import subprocess
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatch
from pathlib import Path

# An op is named where its call, its equations, its faults and its witness are. Everything else asks for its traits
# (reference/contract/op_spec.h), so that a fourth op needs no search for places that forgot it.
MOST_FILES_THAT_NAME_AN_OP = 10
OP = re.compile(r"\bBACKGAUGE_(LSTM_BLOCK_CELL_GRAD|BLOCK_LSTM_GRAD_V2|CUDNN_RNN|CUDNN_RNN_BACKPROP)\b")
# A fact is a member of OpTraits that is true or false, or a number. Where it decides what is done, an entry of the op says it: a file
# in a folder `ops`. Elsewhere a fact only leaves something out: it has no `else`.
MOST_FILES_THAT_ASK_FACTS = 14
OP_SPEC = "reference/contract/op_spec.h"
FACTS_AT_HOME = {OP_SPEC, "reference/contract/op_spec.cc", "reference/contract/ops.inc"}
# The longest README, without the tables that a command writes between its markers; anything longer gets pages of its own.
MOST_LINES_OF_A_README = 200
WRITTEN = re.compile(r"<!-- (\w+): (?:written by|begin).*?<!-- (?:end of \1|\1: end) -->", re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)|(?:src|srcset)=\"([^\":]+)\"")
ENUMERATOR = r"BACKGAUGE_(HALF|BFLOAT16|FLOAT32|FLOAT64|RNN_\w+|LSTM|GRU|UNIDIRECTIONAL|BIDIRECTIONAL|\w+_INPUT|AUTO_SELECT|CLASS_\w+)\b"
OUTSIDE = re.compile(r"\$\{(?:PROJECT|CMAKE)_SOURCE_DIR\}/\.\.|\$\{sourceDir\}/\.\.|(?<![\w}.$*>])/(?:home|root|tmp|mnt|srv|work|opt)\b")
ARITHMETIC = re.compile(rf"[-+] *{ENUMERATOR}|{ENUMERATOR} *[-+]")

# A folder with more source files than this is divided into rooms, which are folders too. properties/laws is not: all its
# files are alike, one for each law.
MOST_SOURCES_OF_A_FOLDER = 42
COMPILED = ("*.h", "*.cc", "*.inc", "*.cu", "*.c")
SOURCES = (*COMPILED, "*.py")
UNDIVIDED = {"properties/laws"}
# The rooms of a folder in their order, and the largest number of pairs of rooms of which one includes the other. A room
# includes only itself and those before it; tests may include all. Python scripts need not be in a room.
ROOMS = {
    "ci/run": (["process", "implementation", "plan", "outcome", "explain", "judge", "bench"], 11),
    "impl/cpu": (["machine", "kernels", "amx", "ops", "table"], 8),
    "perf": (["meter", "workload", "machine", "call", "results", "run"], 11),
    "properties/campaign": (["settings", "plan", "measure", "calls", "shrink"], 3),
    "properties/case": (["files", "line", "stored", "draw"], 5),
}

# The table of a README need not name these: files that every folder may have, tests, which are named after what they test, and
# hidden folders.
NEEDS_NO_ROW = re.compile(r"^\.|(^|/)(__init__\.py|[^/]*_test\.\w+)$")

# One example of each row: how the table calls it, what names the example, where its own files are, files that had to be
# edited for it.
ADDITIONS = [
    ("an implementation", r"\b(impl/eigen|backgauge_eigen|eigen_implementation)\b|_LINKED\(eigen\b|`eigen/`", "impl/eigen/",
     ["impl/implementations.inc", "impl/README.md"]),
    # Implementations that have it claim it, which their faults leave out, and so do the vectors that were recorded from one.
    ("a declared property", r"\brelu_slope_at_zero\b",
     ("reference/contract/claims.inc", "impl/", "ci/testing/faults/", "properties/case/stored/golden.cc"),
     ["ci/testing/plugins/answers_from_files.c", "properties/saboteurs/rnn_cell.h", "properties/saboteurs/variants.cc",
      "reference/arithmetic/roundings.h", "reference/rounding_model.cc"]),
    ("a law", r"\bsplits_over_the_batch\b", "properties/laws/splits_over_the_batch.cc",
     ["properties/laws/laws.inc", "properties/laws/README.md"]),
    ("a subcommand", r"\badd_merge\b|SUBCOMMAND\(merge\)", "ci/command/merge.cc", ["ci/command/subcommands.inc"]),
    ("a workload list", r"\bshapes_haste\b", "properties/cases/shapes_haste.txt", []),
    ("an adapter", r"\badapter_onednn-primitive\b", "impl/onednn/adapter_onednn-primitive.py", ["impl/README.md"]),
    ("a chart", r"\bspeed_and_error\b", "reports/backgauge/report/charts/speed_and_error.py",
     ["reports/backgauge/report/catalogue.py"]),
]


def git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    if done.returncode > 1 or done.stderr:  # 1: grep found nothing
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr}")
    return done.stdout.splitlines()


def untrue_additions(root: Path) -> list[str]:
    out = []
    rows = [line.split("|")[1:4] for line in (root / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("| a")]
    table = {row[0].strip(): re.findall(r"`([^`]+)`", row[2]) for row in rows}
    for what, name, own, edited in ADDITIONS:
        touched = {path for path in git(root, "grep", "-lP", name) if not path.startswith(own) and is_code(Path(path))}
        if touched != set(edited):
            out.append(f"{what} touches {', '.join(sorted(touched)) or 'nothing'}, expected {', '.join(edited) or 'nothing'}")
        if table.get(what) != edited:
            out.append(f"CONTRIBUTING.md says that {what} touches {table.get(what)}, it touches {edited}")
        example = own if isinstance(own, str) else own[0]
        if not list(root.glob(example.rstrip("/"))):
            out.append(f"{example}, the example of {what}, is not there")
    return out


def is_code(path: Path) -> bool:
    """FINDINGS.md is written by ci/findings; nobody edits it."""
    own = ("CHANGELOG.md", "FINDINGS.md", "structure.py")
    return "test" not in path.stem and "tests" not in path.parts and path.name not in own


def sources(root: Path) -> list[Path]:
    return [Path(name) for name in git(root, "ls-files", "*.h", "*.cc", "*.inc")]


def is_product(path: Path) -> bool:
    return path.parts[0] != "impl" and not path.stem.endswith("_test") and "testing" not in path.parts


def unreadable_documents(root: Path) -> list[str]:
    out = []
    for path in map(Path, git(root, "ls-files", "*.md")):
        text = (root / path).read_text()
        lines = len(WRITTEN.sub("", text).splitlines())
        if path.name == "README.md" and lines > MOST_LINES_OF_A_README:
            out.append(f"{path} has {lines} lines, at most {MOST_LINES_OF_A_README} are allowed")
        for link in (target for pair in LINK.findall(text) for target in pair if target):
            if not (root / path.parent / link).exists():
                out.append(f"{path} links to {link}, which does not exist")
    return out


def names_in_tables(readme: str) -> list[str]:
    """The words between backticks and the links of its tables; `name.{h,cc}` is two."""
    out = []
    for row in (line for line in readme.splitlines() if line.startswith("|")):
        for quoted, link in re.findall(r"`([^`\s]+)`|\]\(([^)#:]+)", row):
            braces = re.fullmatch(r"(.*)\{(.*)\}(.*)", quoted or link)
            out += [braces[1] + each + braces[3] for each in braces[2].split(",")] if braces else [quoted or link]
    return out


def is_named(path: Path, home: Path, names: list[str]) -> bool:
    known = str(path.relative_to(home)), path.name
    return any(fnmatch(each, name) or fnmatch(each, f"{name}.*") for each in known for name in names)


def unnamed_files(root: Path) -> list[str]:
    """Sources and scripts without a row in the README of their folder, or of the nearest folder above it that has one. A row names
    files, as `name.h`, `name.*` or `name`, or a folder below, as `folder/`. If half of the files of such a folder have rows of their
    own, all must have one. A README without a table of its own files is not looked at."""
    out, folders = [], defaultdict(list)
    for mode, _, _, name in (line.split(maxsplit=3) for line in git(root, "ls-files", "--stage")):
        if (mode == "100755" or f"*{Path(name).suffix}" in SOURCES) and not NEEDS_NO_ROW.search(name):
            folders[Path(name).parent].append(Path(name))
    for folder, files in folders.items():
        home = next(above for above in (folder, *folder.parents) if (root / above / "README.md").exists())
        names = names_in_tables((root / home / "README.md").read_text())
        unnamed = [path for path in files if not is_named(path, home, names)]
        if folder == home:
            is_exempt = unnamed == files
        else:
            has_row = f"{folder.relative_to(home)}/".startswith(tuple(name for name in names if name.endswith("/")))
            is_exempt = has_row and 2 * len(unnamed) > len(files)
        if not is_exempt:
            out += [f"{home / 'README.md'} has no row for {path}" for path in unnamed]
    return out


def unfit_for_cmake(root: Path) -> list[str]:
    """Paths in CMake files that exist only on one machine or outside of the repository; and globs that ninja evaluates at each
    build: before that, it cannot report the number of steps, which ci/verify prints."""
    out = []
    for path in map(Path, git(root, "ls-files", "*CMakeLists.txt", "*.cmake", "CMakePresets.json")):
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            if OUTSIDE.search(line):
                out.append(f"{path}:{number}: a path outside of the repository: {line.strip()}")
            if re.search(r"GLOB.*CONFIGURE_DEPENDS", line):
                out.append(f"{path}:{number}: a glob with CONFIGURE_DEPENDS: {line.strip()}")
    return out


def crowded_folders(root: Path) -> list[str]:
    counts = Counter(str(Path(name).parent) for name in git(root, "ls-files", *SOURCES))
    return [f"{folder} has {count} source files, at most {MOST_SOURCES_OF_A_FOLDER} are allowed: divide it into rooms"
            for folder, count in sorted(counts.items()) if count > MOST_SOURCES_OF_A_FOLDER and folder not in UNDIVIDED]


def includes_between_rooms(root: Path, folder: str) -> dict[tuple[str, str], list[str]]:
    """The places of all includes from one room into another, without those of tests."""
    out = defaultdict(list)
    for line in git(root, "grep", "-n", f'^#include "{folder}/', "--", folder, ":!*_test.*", ":!*/testing/*"):
        path, number, include = line.split(":", 2)
        room, included = (Path(name).relative_to(folder).parts[0] for name in (path, include.split('"')[1]))
        if room != included:
            out[room, included].append(f"{path}:{number}")
    return out


def disorderly_rooms(root: Path) -> list[str]:
    out = []
    for folder, (rooms, most) in ROOMS.items():
        out += [f"{folder}/{room} is a room without files" for room in rooms if not git(root, "ls-files", f"{folder}/{room}")]
        homeless = [name for name in git(root, "ls-files", *(f"{folder}/{pattern}" for pattern in COMPILED))
                    if Path(name).relative_to(folder).parts[0] not in rooms]
        if homeless:
            out.append(f"{folder} has the rooms {', '.join(rooms)}; in none of them: {', '.join(homeless)}")
            continue
        arrows = includes_between_rooms(root, folder)
        for (room, included), places in arrows.items():
            if included not in rooms[:rooms.index(room)]:
                out.append(f"{folder}/{room} includes {folder}/{included}, which does not come before it: {', '.join(places)}")
        if len(arrows) > most:
            listed = "; ".join(f"{room} -> {included} ({', '.join(places)})" for (room, included), places in arrows.items())
            out.append(f"{folder} has {len(arrows)} arrows between its rooms, at most {most} are allowed: {listed}")
    return out


def facts_of_ops(root: Path) -> re.Pattern:
    """Where code reads one: `op.has_steps`, `&OpTraits::has_steps`."""
    traits = re.search(r"^struct OpTraits \{$(.*?)^\};$", (root / OP_SPEC).read_text(), re.DOTALL | re.MULTILINE)
    names = re.findall(r"^  (?:bool|std::int64_t) (\w+) =", traits[1], re.MULTILINE)
    return re.compile(rf"(?:\.|->|::)(?:{'|'.join(names)})\b(?!\()")


def end_of(code: str, at: int) -> int:
    """The place after the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in "({") - (code[place] in ")}")
        if depth == 0:
            return place + 1
    return len(code)


def chooses_by(fact: re.Pattern, code: str) -> bool:
    """Whether an `if` that reads a fact has an `else`, or a fact decides a `?`."""
    for condition in re.finditer(r"\bif (?:constexpr )?\(", code):
        end = end_of(code, condition.end() - 1)
        if fact.search(code[condition.end():end]):
            rest = code[end:].lstrip()
            after = rest[end_of(rest, 0):] if rest.startswith("{") else rest.partition(";")[2]
            if after.lstrip().startswith("else"):
                return True
    return any(re.match(r"[^;,:{}]*\?", code[read.end():]) for read in fact.finditer(code))


def wrong_questions(root: Path) -> list[str]:
    fact, asking, out = facts_of_ops(root), [], []
    for path in map(Path, git(root, "ls-files", *COMPILED)):
        if {"ops", "testing"} & set(path.parts) or path.stem.endswith("_test") or str(path) in FACTS_AT_HOME:
            continue
        code = re.sub(r"//.*", "", (root / path).read_text())
        if fact.search(code):
            asking.append(str(path))
            if chooses_by(fact, code):
                out.append(f"{path} chooses one of two ways by a fact of an op: make it an entry of the op (op_entries.h)")
    if len(asking) > MOST_FILES_THAT_ASK_FACTS:
        out.append(f"{len(asking)} files ask for facts of ops, at most {MOST_FILES_THAT_ASK_FACTS} may: {', '.join(asking)}")
    return out


def complaints(root: Path) -> list[str]:
    out = untrue_additions(root) + unreadable_documents(root) + unnamed_files(root) + unfit_for_cmake(root)
    out += crowded_folders(root) + disorderly_rooms(root) + wrong_questions(root)
    naming = []
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
