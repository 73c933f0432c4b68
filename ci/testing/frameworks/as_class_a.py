# SPDX-License-Identifier: Apache-2.0
"""The adapter whose path is in BACKGAUGE_ADAPTER, declared to be of class A in half and bfloat16, to find out whether it is."""
import os

import backgauge
from backgauge.worker import module_of

adapter = module_of(os.environ["BACKGAUGE_ADAPTER"])
__version__ = adapter.__version__


def narrow_dtypes(function):
    return [dtype for dtype in function.claims["dtypes"] if dtype in ("f16", "bf16")]


def declared(function):
    return backgauge.implementation.Function(function.function, function.op,
                                             {**function.claims, "dtypes": narrow_dtypes(function), "accuracy_class": "A"},
                                             function.reserve_space_length, function.staged)


globals().update({name: declared(value) for name, value in vars(adapter).items()
                  if isinstance(value, backgauge.implementation.Function) and narrow_dtypes(value)})
