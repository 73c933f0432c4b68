# SPDX-License-Identifier: Apache-2.0
"""Faults on purpose: each is put into a copy of one source file, and a check of what is built from it must fail.

A program of faults has a table and a check; run() does the rest. The build directory is made by ninja. Nothing changes in it, or
in the sources."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple


class Fault(NamedTuple):
    id: str
    what: str  # is wrong
    file: str  # from the root of the sources
    changes: tuple[tuple[str, str], ...]  # the text as it is, and as it becomes

    def text(self, source: pathlib.Path) -> str:
        """The whole file with the fault. Raises ValueError if a text that changes is not there exactly once."""
        text = (source / self.file).read_text()
        for was, becomes in self.changes:
            if text.count(was) != 1:
                raise ValueError(f"STALE: {self.id}: {self.file} no longer holds this text once: {was}")
            text = text.replace(was, becomes)
        return text


class Product(NamedTuple):
    """What is linked anew for each fault."""

    target: str  # of ninja
    output: str  # the file that this target links, from the build directory
    folder: str  # of the sources that have faults, from the root
    objects: str  # a pattern: where their objects are, from the build directory
    optimization: str


class Build:
    """How the build directory compiles the sources of a product, and links it."""

    def __init__(self, source: pathlib.Path, build: pathlib.Path, product: Product):
        self.source, self.build, self.product = source, build, product
        entries = json.loads((build / "compile_commands.json").read_text())
        self.compile = {str(pathlib.Path(entry["file"]).relative_to(source)): shlex.split(entry["command"]) for entry in entries
                        if re.search(f" -o {product.objects}", entry["command"])}
        commands = subprocess.run(["ninja", "-C", build, "-t", "commands", product.target], check=True, capture_output=True,
                                  text=True).stdout.splitlines()
        self.link = shlex.split(next(part for line in reversed(commands) for part in line.split(" && ")
                                     if f" -o {product.output} " in part))

    def dependents(self, name: str) -> list[str]:
        """The sources that are compiled with this file."""
        found, todo = {name}, [name]
        files = [path for path in (self.source / self.product.folder).rglob("*") if path.suffix in (".h", ".cu", ".cc")]
        while todo:
            include = f'#include "{todo.pop()}"'
            for path in files:
                other = str(path.relative_to(self.source))
                if other not in found and include in path.read_text():
                    found.add(other)
                    todo.append(other)
        return sorted(found & set(self.compile))

    def product_with(self, name: str, text: str, folder: pathlib.Path) -> pathlib.Path | None:
        """The product, in this empty folder, with another text for one file. None if it does not compile.

        What an object file defines is not taken from the library that has the right one."""
        changed = folder / name
        changed.parent.mkdir(parents=True)
        changed.write_text(text)
        link = self.link.copy()
        for number, dependent in enumerate(self.dependents(name)):
            words, wrong = self.compile[dependent].copy(), str(folder / f"{number}.o")
            output = words.index("-o") + 1
            right, words[output] = words[output], wrong
            if dependent == name:
                words[-1] = str(changed)
            words.insert(next(k for k, word in enumerate(words) if word.startswith("-I")), f"-I{folder}")
            words += [self.product.optimization, "-Wno-error"]
            if subprocess.run(words, cwd=self.build, capture_output=True).returncode != 0:
                return None
            link = [word for word in link if word != right]
            link.insert(link.index("-o"), wrong)
        product = folder / pathlib.Path(self.product.output).name
        link[link.index("-o") + 1] = str(product)
        subprocess.run(link, cwd=self.build, check=True, capture_output=True)
        return product


# Whether the check finds nothing wrong with a product; without a fault it is the right one, made in the same way.
Check = Callable[[Build, pathlib.Path, Fault | None], bool]


def run(description: str, product: Product, rows: list[tuple], passes: Check) -> int:
    """The whole program: reads the command line, prints what became of each fault, returns the exit code. A row is the id, what is
    wrong, the file, and one or more pairs of texts."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path, help="the root of the sources")
    parser.add_argument("build", type=pathlib.Path, help="the build directory")
    parser.add_argument("ids", nargs="*", metavar="ID", help="of faults (default: all)")
    options = parser.parse_args()
    faults = [Fault(*row[:3], row[3:]) for row in rows]
    if unknown := set(options.ids) - {fault.id for fault in faults}:
        parser.error(f"{', '.join(sorted(unknown))}: no such fault")
    build = Build(options.source.resolve(), options.build.resolve(), product)
    if messages := _stale(build.source, faults):
        print("\n".join(messages), file=sys.stderr)
        return 1
    chosen = [fault for fault in faults if not options.ids or fault.id in options.ids]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("BACKGAUGE_JOBS", os.cpu_count()))) as pool:
        right = pool.submit(_passes_without_fault, build, faults[0].file, passes)
        outcomes = list(pool.map(lambda fault: _outcome(build, fault, passes), chosen))
    if not right.result():
        print(f"{product.target}: fails without any fault", file=sys.stderr)
        return 1
    for fault, outcome in zip(chosen, outcomes):
        print(f"{outcome:<9} {fault.id:<5} {fault.what}")
    noticed = outcomes.count("noticed")
    print(f"faults in {product.folder}: {noticed} of {len(chosen)} noticed")
    return 0 if noticed == len(chosen) else 1


def _stale(source: pathlib.Path, faults: list[Fault]) -> list[str]:
    """A complaint about each fault, chosen or not, that does not match its source."""
    found = []
    for fault in faults:
        try:
            fault.text(source)
        except ValueError as error:
            found.append(str(error))
    return found


def _outcome(build: Build, fault: Fault, passes: Check) -> str:
    with tempfile.TemporaryDirectory() as folder:
        product = build.product_with(fault.file, fault.text(build.source), pathlib.Path(folder))
        if product is None:
            return "STALE: does not compile"
        return "UNNOTICED" if passes(build, product, fault) else "noticed"


def _passes_without_fault(build: Build, name: str, passes: Check) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        product = build.product_with(name, (build.source / name).read_text(), pathlib.Path(folder))
        return product is not None and passes(build, product, None)
