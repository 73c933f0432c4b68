# SPDX-License-Identifier: Apache-2.0
"""Claims of an implementation as bench and verify write them, and in what one of two claims less than the other."""

import json

from .errors import CommandError
from .reading import explained, parse_object

# From the strictest one on, as the enumerators of the contract are. A word that is not here may not change.
_ORDERS = {
    "accuracy_class": ("A", "A'", "S", "B"),
    "numerical_contract": ("fp32_strict", "fp32_9xbf16", "fp32_6xbf16", "fp32_3xtf32", "fp32_3xbf16", "fp32_tf32", "fp16_acc32", "bf16_acc32"),
    "determinism": ("bitwise", "bitwise_per_thread_count", "not_deterministic")}
_NOT_PROPERTIES = ("op", "not_claimed", "text")
# Flags that are fewer calls where they are false; all others allow more where they are true.
_SCOPE_FLAGS = ("dropout",)


def claims_in(context, implementation):
    """{op: {property: value}}; None if the run does not say. Raises CommandError."""
    text = context.get(f"claims/{implementation}")
    if text is None:
        return None
    try:
        return by_op(parse_object(f'{{"claims": {text}}}')["claims"])
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f"claims of {implementation}: not as backgauge bench writes them: {explained(error)}") from error


def by_op(claims):
    """On input a list of objects, one for each op. Raises ValueError, KeyError, TypeError."""
    if not isinstance(claims, list) or not all(isinstance(each, dict) and isinstance(each["dtypes"], list) for each in claims):
        raise ValueError("expected a list of claims, one for each op")
    return {each["op"]: each for each in claims}


def looser(base, head):
    """What head claims less, or allows itself more, than base; a line each."""
    out = []
    for op, before in base.items():
        now = head.get(op)
        if now is None:
            out.append(f"{op} is not claimed any more")
            continue
        lost = [dtype for dtype in before["dtypes"] if dtype not in now["dtypes"]]
        out += [f"{op}: {dtype} is not claimed any more" for dtype in lost]
        kept = [dtype for dtype in before["dtypes"] if dtype not in lost]
        for name in dict.fromkeys([*before, *now]):
            if name == "dtypes" or name in _NOT_PROPERTIES:
                continue
            changes = {}
            for dtype in kept:
                ours, theirs = _of(before.get(name), dtype), _of(now.get(name), dtype)
                if _is_looser(name, ours, theirs):
                    changes.setdefault(f"{_text(ours)} -> {_text(theirs)}", []).append(dtype)
            words = name.replace("_", " ")
            out += [f"{op}: {words} {change} in {', '.join(dtypes)}" for change, dtypes in changes.items()]
    return out


def _of(value, dtype):
    return value.get(dtype) if isinstance(value, dict) else value


def _text(value):
    return "not claimed" if value is None else value if isinstance(value, str) else json.dumps(value)


def _is_looser(name, before, now):
    if before == now:
        return False
    if name in _ORDERS:
        if None in (before, now):  # it does not matter for the dtype
            return False
        order = _ORDERS[name]
        return not (before in order and now in order and order.index(now) < order.index(before))
    if name in _SCOPE_FLAGS:
        return now is not True
    if isinstance(before, bool) or isinstance(now, bool):
        return now is True
    if isinstance(before, list):
        return not set(before) <= set(now or ())
    if name.startswith(("least_", "multiple_of_", "greatest_")) or name.endswith(("_absolute", "_ulps")):
        return _is_worse_number(name, before, now)
    return True


def _is_worse_number(name, before, now):
    """A limit or an error that is not claimed is none."""
    if now is None:
        return False
    if name.startswith("multiple_of_"):
        return (before or 1) % now != 0
    if name.startswith("greatest_"):
        return before is None or now < before
    return now > (before or 0)
