# SPDX-License-Identifier: Apache-2.0
"""The program `backgauge`, for functions that run it."""

import os
import pathlib
import shutil

from backgauge.errors import InputError
from backgauge.native import native


def command():
    """Its path: $BACKGAUGE_COMMAND, else that of this build or installation, else the one on the PATH. Raises InputError."""
    chosen = os.environ.get("BACKGAUGE_COMMAND")
    if chosen:
        if not os.access(chosen, os.X_OK):
            raise InputError(f"BACKGAUGE_COMMAND={chosen}: not a program")
        return chosen
    package, module = (pathlib.Path(each).resolve().parent for each in (__file__, native().__file__))
    places = [module.parent / "backgauge", *(folder / "bin" / "backgauge" for folder in (package, *package.parents))]
    found = next((str(place) for place in places if place.is_file() and os.access(place, os.X_OK)), None) or shutil.which("backgauge")
    if found is None:
        raise InputError("the program backgauge is neither installed with this package nor on the PATH; BACKGAUGE_COMMAND names it")
    return found
