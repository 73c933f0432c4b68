# SPDX-License-Identifier: Apache-2.0
"""The door for files that somebody else may have written: text, JSON and TOML of limited size and depth, and numbers in a valid range.
Every error is one line."""

import itertools
import json
import math
import re
import tomllib

from .errors import CommandError

_LONGEST = 160  # characters of the input that a message repeats: two lines of a terminal

# As in json_text.h: the documents of this project nest to 7, and the largest has some MiB.
DEEPEST = 64
LONGEST_TEXT = 256 << 20
# A policy has some hundred lines. tomllib took 0.9 s for 64 KiB of short keys, but 310 s for a key of 32,768 parts (AMD EPYC): the square
# of their number.
LONGEST_TOML = 1 << 16
_DEEP_KEY = re.compile(r"""(?<![\w-])(?:(?:"[^"\n]*+"|'[^'\n]*+'|[\w-]++)[ \t]*+\.[ \t]*+){64}""")

_NOT_A_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|[^][{}"]++|"')


def read_text(path, longest=LONGEST_TEXT):
    """Raises CommandError if the file cannot be read, is not UTF-8 or has more than `longest` bytes."""
    try:
        with open(path, "rb") as file:
            found = file.read(longest + 1)
        if len(found) > longest:
            raise CommandError(f"{path}: expected at most {longest} bytes, got more")
        return found.decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: expected UTF-8, got byte {error.object[error.start]:#04x} at {error.start}") from error
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from error


def parse_object(text):
    """A JSON object. Raises ValueError for everything else."""
    if _depth(text) > DEEPEST:
        raise ValueError(f"JSON nested more than {DEEPEST} deep")
    value = json.loads(text, object_pairs_hook=_distinct)
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    if "\\u" in text:
        _require_writable(value)
    return value


def read_toml(path):
    """The tables of a TOML file. Raises CommandError."""
    text = read_text(path, LONGEST_TOML)
    if _DEEP_KEY.search(text):
        raise CommandError(f"{path}: not TOML: a key of more than {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise CommandError(f"{path}: not TOML: nested too deeply") from error
    except ValueError as error:
        raise CommandError(f"{path}: not TOML: {_short(str(error))}") from error


def _depth(text):
    """Of brackets and braces. Most texts have too few to be deep, which is seen faster."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return 0
    steps = (1 if bracket in "[{" else -1 for bracket in _NOT_A_BRACKET.sub("", text))
    return max(itertools.accumulate(steps), default=0)


def _require_writable(value):
    """An escape can name what is no character: half of a pair of surrogates, which no file can hold. A database holds no NUL."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError(f"expected text of Unicode characters without NUL, got {_short(ascii(value))}")
        return
    for each in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_writable(each)


def _distinct(pairs):
    """Of doubled keys some programs take the first and some the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'duplicate key "{_short(next(key for key in found if keys.count(key) > 1))}"')
    return found


def positive(holder, key):
    """The finite number above 0 that `holder` has under `key`. Raises ValueError."""
    value = number(holder, key)
    if not 0 < value < math.inf:
        raise ValueError(f"{key}: expected a number above 0, got {value}")
    return value


def number(holder, key):
    """The number that `holder` has under `key`. Raises KeyError, ValueError."""
    value = holder[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{key}: expected a number, got {_short(repr(value))}")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"{key}: expected a number of double precision, got one of {len(str(value))} digits") from error


def amount(holder, key):
    """The number under `key`, not negative; nan for null. Raises KeyError, ValueError."""
    value = float("nan") if holder[key] is None else number(holder, key)
    if value < 0:
        raise ValueError(f"{key}: expected a number of at least 0, got {value}")
    return value


def words(holder, key, default=None):
    """The text under `key`; `default`, if given, if there is no such key. Raises KeyError, ValueError."""
    value = holder[key] if default is None else holder.get(key, default)
    if not isinstance(value, str):
        raise ValueError(f"{key}: expected text, got {_short(repr(value))}")
    return value


def table(holder, key, default=None):
    """The JSON object under `key`, with the rules of words()."""
    value = holder[key] if default is None else holder.get(key, default)
    if not isinstance(value, dict):
        raise ValueError(f"{key}: expected a JSON object, got {_short(repr(value))}")
    return value


def explained(error):
    """A reading error in a few words, of bounded length."""
    if isinstance(error, KeyError):
        return f'"{_short(str(error.args[0]))}" is missing'
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    return _short(str(error))


def _short(text):
    line = text.replace("\n", " ")
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "..."
