# SPDX-License-Identifier: Apache-2.0
"""The program, and where the rest of the installation is.

    python -m backgauge --cmake-dir      the folder of the CMake package, for -Dbackgauge_DIR
    python -m backgauge --include-dir    the folder of backgauge.h
    python -m backgauge verify ...       the command backgauge, as on the PATH
"""
import os
import pathlib
import sys

from backgauge import errors


def prefix():
    """The installation that this package belongs to: below the package if pip has installed it, otherwise above it, in
    share/backgauge/python. Raises CommandError in a source tree, which has none."""
    package = pathlib.Path(__file__).resolve().parent
    for place in (package, *package.parents[3:4]):
        if (place / "bin" / "backgauge").is_file():
            return place
    raise errors.CommandError(f"{package} belongs to no installation: there is no bin/backgauge", errors.NOT_LOADED)


def run_program():
    """The command `backgauge` of the wheel."""
    errors.run_command(_become)


def main(arguments):
    # Libraries of a system may have a folder for each architecture.
    files = {"--cmake-dir": "lib*/**/backgaugeConfig.cmake", "--include-dir": "include/backgauge.h"}
    if len(arguments) == 1 and arguments[0] in files:
        option, place = arguments[0], prefix()
        pattern = files[option]
        found = next(place.glob(pattern), None)
        if found is None:
            raise errors.CommandError(f"{option}: the installation in {place} has no {pathlib.Path(pattern).name}", errors.NOT_LOADED)
        print(found.parent)
        return errors.GOOD
    return _become(arguments)


def _become(arguments):
    """Never returns. The command runs implementations in Python, and draws reports, under this interpreter unless BACKGAUGE_PYTHON
    names another."""
    program = prefix() / "bin" / "backgauge"
    if not os.environ.get("BACKGAUGE_PYTHON"):
        os.environ["BACKGAUGE_PYTHON"] = sys.executable
    os.execv(program, ["backgauge", *arguments])


if __name__ == "__main__":
    errors.run_command(main)
