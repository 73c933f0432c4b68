# SPDX-License-Identifier: Apache-2.0
"""Prints the answers of the scripts of this folder: one line of JSON for each question, {"what", "confirmed", "seen"}, for ci/findings."""
import json

import numpy as np

NOT_A = "not of class A"  # half or bfloat16 is rounded within, too
DIGITS = {"float16": (11, -24), "bfloat16": (8, -133)}  # binary digits of a value, and the exponent of the smallest number


def say(what, confirmed, seen):
    print(json.dumps({"what": what, "confirmed": bool(confirmed), "seen": seen}), flush=True)


def say_class(call, dtype, got, want):
    """Compares gradients of a narrow dtype with those of the same call in a wider one, element by element, both lists of arrays.
    What is rounded once, at the end, is at most half a unit in the last place away; what is further than a whole one was rounded within."""
    digits, smallest = DIGITS[dtype]
    got, want = (np.concatenate([np.asarray(each, np.float64).ravel() for each in side]) for side in (got, want))
    unit = 2.0 ** np.maximum(np.frexp(want)[1] - digits, smallest)
    off = np.abs(got - want) / unit
    far = int((off > 1).sum())
    say(NOT_A, far > 0, f"{call}: {far} of {off.size} elements of its gradients in {dtype} are more than one unit in the last place "
        f"away from those of the same call in a wider type, the worst {off.max():.2g} units")


def refusal(call):
    """The type and first line of the exception that a call raises; "" if it returns."""
    try:
        call()
    except Exception as error:  # whatever the framework raises is the answer
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
    return ""
