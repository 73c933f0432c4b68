# SPDX-License-Identifier: Apache-2.0
"""Reads files that other programs wrote: text, JSON, and numbers in a valid range. Every error is one line."""

import json
import math
import pathlib

from .errors import CommandError

_LONGEST = 160  # characters of the input that a message repeats: two lines of a terminal


def read_text(path):
    """Raises CommandError if the file cannot be read or is not UTF-8."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: expected UTF-8, got byte {error.object[error.start]:#04x} at {error.start}") from error
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from error


def parse_object(text):
    """A JSON object. Raises ValueError for everything else."""
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {type(value).__name__}")
    return value


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
