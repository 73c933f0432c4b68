# SPDX-License-Identifier: Apache-2.0
"""Libraries that only some subcommands need."""

import importlib

from ..errors import NOT_LOADED, CommandError


def library(name, purpose):
    """The module. Raises CommandError with the one line that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        extra = "database" if purpose == "--database" else "history"
        raise CommandError(f"history {purpose} needs {name.partition('.')[0]} ({error}): pip install 'backgauge[{extra}]', or "
                           "ci/install-deps --python and BACKGAUGE_PYTHON=build/python/bin/python", NOT_LOADED) from error
