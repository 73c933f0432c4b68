# SPDX-License-Identifier: Apache-2.0
"""backgauge campaign: tiers judged on many cores or machines. properties/campaigns.md says how."""

from .. import errors
from ..errors import CommandError
from . import options as command_line


def main(arguments):
    options = command_line.parse(arguments)
    try:
        import distributed
    except ImportError as error:
        raise CommandError(f"campaign needs distributed ({error}): pip install 'backgauge[campaign]', or ci/install-deps --python and "
                           "BACKGAUGE_PYTHON=build/python/bin/python", errors.NOT_LOADED) from error
    del distributed
    from .run import run
    return run(options)


if __name__ == "__main__":
    errors.run_command(main)
