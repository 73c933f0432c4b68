# SPDX-License-Identifier: Apache-2.0
"""The native part of the package, `_backgauge`: the oracle, the judge, and the properties that can be claimed."""
from backgauge.errors import InputError


def native():
    """The module `_backgauge`. Raises InputError where it was not built."""
    try:
        import _backgauge
    except ImportError as error:
        raise InputError(f"the native module is not here: {error} (ci/install-deps --python, then build)") from None
    return _backgauge


def asked(function, *arguments):
    """What a native function returns. What it finds wrong becomes an InputError."""
    try:
        return function(*arguments)
    except (ValueError, RuntimeError) as error:
        raise InputError(str(error)) from None


def rounding_properties():
    """The names of the claims that decide what is allowed; others restrict an implementation, or add checks."""
    return {each["name"] for each in native().properties() if each["effect"] == "rounding"}
