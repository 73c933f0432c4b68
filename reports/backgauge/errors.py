# SPDX-License-Identifier: Apache-2.0
"""Exit codes of properties/README.md, and the one exception that carries one."""

import contextlib
import os
import sys

from . import interrupts

GOOD = 0
FAILED = 1
USAGE = 2
NOT_LOADED = 3
SLOWER = 4
INCONCLUSIVE = 5
SELF_CHECK = 6
INTERRUPTED = 130


class Error(Exception):
    """Every error that this package reports to its callers."""


class CommandError(Error):
    """An error in what the user requested: printed on stderr, with the given exit code."""

    def __init__(self, text, exit_code=USAGE):
        super().__init__(text)
        self.exit_code = exit_code


class InputError(Error, ValueError):
    """Something that was given to a function of this package is wrong, or missing on this machine."""


class NothingProven(AssertionError):
    """Outputs were judged, and nothing is known about them: MISTRUSTED or SKIPPED. `backgauge judge` ends with `exit_code` then."""

    exit_code = INCONCLUSIVE


def error_of(word):
    """The class of the error that a verdict other than PASSED is."""
    return NothingProven if word in ("MISTRUSTED", "SKIPPED") else AssertionError


class HarnessError(Error, RuntimeError):
    """The checker itself failed, or the machine: nothing is known about what was to be judged."""


def run_command(main):
    """Exits with what `main(arguments)` returns; an error is one line on stderr."""
    interrupts.answer(INTERRUPTED)
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except CommandError as error:
        print(f"backgauge: {error}", file=sys.stderr)
        if error.exit_code == INTERRUPTED:
            interrupts.end(INTERRUPTED)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        with contextlib.suppress(OSError, KeyboardInterrupt):
            sys.stdout.flush()
        interrupts.end(INTERRUPTED)
    except BrokenPipeError:
        # The reader of stdout has gone; the interpreter must not report that again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(GOOD)
    except OSError as error:  # a file has disappeared, or cannot be written
        print(f"backgauge: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except Exception as error:  # a bug: exit code 1 would mean that an implementation is wrong
        print(f"backgauge: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(SELF_CHECK)
