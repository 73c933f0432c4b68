# SPDX-License-Identifier: Apache-2.0
"""Runs the code blocks of a document, as a reader would. The words after the language of a block say what is done with it:

    file=NAME      is written to that file
    patch=NAME     changes that file: lines that begin with -, which occur once, become those that begin with +
    run [exit=N]   is run by sh, and ends with exit code N (0)
    output         every line is a line of what the last run printed, in this order; times may differ
    sample         the same, but all numbers and the widths of columns may differ, and a busy machine may leave a ratio out
    needs=NAME     only where this is there
    by-hand        only readers do it
"""
import dataclasses
import re
import subprocess

_BLOCK = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\b\d+(\.\d+)? ?(ns|us|ms|s)\b")
_NUMBER = re.compile(r"[-+]?\b\d[\d.]*(e[-+]?\d+)?\b")
_NO_RATIO = re.compile(r"\b(disturbed|spread)$")  # what `bench` prints in its place (perf/results/ratio.h)


class Wrong(AssertionError):
    """A block that does not do what the document says."""


@dataclasses.dataclass
class Block:
    language: str
    words: list
    body: str
    line: int

    def value(self, name, default=None):
        return next((word.partition("=")[2] for word in self.words if word.startswith(name + "=")), default)

    def wrong(self, what):
        return Wrong(f"line {self.line}: {what}")


def blocks_of(text):
    """dict of second-level heading ("" before the first) to its blocks."""
    heads = [(match.start(), match[1]) for match in re.finditer(r"^## (.*)$", text, re.MULTILINE)]
    out = {"": [], **{head: [] for _, head in heads}}
    for match in _BLOCK.finditer(text):
        head = next((head for start, head in reversed(heads) if start < match.start()), "")
        line = text.count("\n", 0, match.start()) + 1
        out[head].append(Block(match[1], (match[2] or "").split(), match[3], line))
    return out


class Runner:
    """Runs blocks in a folder. `there`: dict of what a block may need to "" or why it is not there."""

    def __init__(self, folder, environment, there):
        self.folder, self.environment, self.there = folder, environment, there
        self.printed, self.skipped = "", []

    def run(self, blocks):
        for block in blocks:
            absence = self.there[block.value("needs")] if block.value("needs") else ""
            if absence:
                self.skipped.append(f"line {block.line}: {absence}")
            elif block.words != ["by-hand"]:
                self._do(block)

    def _do(self, block):
        if block.value("file"):
            (self.folder / block.value("file")).write_text(block.body, encoding="utf-8")
        elif block.value("patch"):
            self._patch(block)
        elif "run" in block.words:
            self._run(block)
        elif block.words in (["output"], ["sample"]):
            self._compare(block, numbers=block.words == ["output"])
        else:
            raise block.wrong(f"expected words that say what is done with the block, got {' '.join(block.words) or 'none'}")

    def _patch(self, block):
        path = self.folder / block.value("patch")
        lines = block.body.splitlines()
        before, after = ("".join(line[1:] + "\n" for line in lines if line[0] == sign) for sign in "-+")
        text = path.read_text(encoding="utf-8")
        if text.count(before) != 1:
            raise block.wrong(f"{path.name} has these lines {text.count(before)} times:\n{before}")
        path.write_text(text.replace(before, after), encoding="utf-8")

    def _run(self, block):
        done = subprocess.run(["sh", "-ec", block.body], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        self.printed = done.stdout
        expected = int(block.value("exit", "0"))
        if done.returncode != expected:
            raise block.wrong(f"exit code {done.returncode}, expected {expected}\n{block.body}{done.stdout}{done.stderr}")

    def _compare(self, block, numbers):
        def normal(line):
            line = _TIME.sub("#", line)
            return line if numbers else " ".join(_NO_RATIO.sub("#", _NUMBER.sub("#", line)).split())

        rest = iter(map(normal, self.printed.splitlines()))
        for line in block.body.splitlines():
            if line and normal(line) not in rest:  # `in` goes on from where the last line was found
                raise block.wrong(f"not printed, or not in this order: {line}\n{self.printed}")
