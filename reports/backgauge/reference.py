# SPDX-License-Identifier: Apache-2.0
"""The oracle and the judge for inputs of your own: arrays under TensorFlow's names.

    want, allowed = backgauge.oracle("BlockLSTMGradV2", inputs, use_peephole=False)
    backgauge.assert_conforms("BlockLSTMGradV2", inputs, outputs, use_peephole=False, accuracy_class="B")

`inputs` is a dict of arrays, NumPy's or of any library that speaks DLPack or __cuda_array_interface__, also on a CUDA device, all of
one dtype: float16, bfloat16 (of ml_dtypes or PyTorch), float32 or float64. seq_len_max is an int. Inputs that the op does not read,
and for CudnnRNNBackprop `output`, `output_h`, `output_c` and `reserve_space`, may be left out. Attributes are keyword arguments with
TensorFlow's names, words and defaults.
"""
from __future__ import annotations

import dataclasses
import os
import shlex
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backgauge.arrays.seen import bits_on_host, is_on_device
from backgauge.errors import InputError, error_of
from backgauge.native import asked, native, rounding_properties

if TYPE_CHECKING:
    import numpy  # only functions that need it import it, so that reports can be read without

_WORDS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


@dataclasses.dataclass
class _Problem:
    op: str
    inputs: dict
    attributes: dict
    dropout_keep: object
    independent_roundings: bool
    claims: dict


def as_numpy(name, value):
    """(word of the dtype, values in float64)."""
    import numpy
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        word = _WORDS.get(str(value.dtype).removeprefix("torch."))
        value = value.to(torch.float64).numpy() if word else value.numpy()
    elif not hasattr(value, "__array__") and is_on_device(value):
        word, value = _from_device(name, value)
    else:
        try:
            if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
                value = numpy.from_dlpack(value)
            value = numpy.asarray(value)
            word = _WORDS.get(value.dtype.name)
        except Exception as error:  # whatever another library raises
            if not is_on_device(value):
                raise InputError(f"{name}: NumPy cannot read it: {type(error).__name__}: {error}") from None
            word, value = _from_device(name, value)
    if name == "seq_len_max" and value.dtype.kind in "iu":
        word = "i64"
    if word is None:
        raise InputError(f"{name}: expected one of {', '.join(_WORDS)}, got {value.dtype}")
    return word, numpy.ascontiguousarray(value, dtype=numpy.float64).reshape(value.shape)


def _from_device(name, value):
    """(word of the dtype, values) of an array on a CUDA device."""
    import numpy
    try:
        dtype, bits = bits_on_host(name, value)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None
    except RuntimeError as error:  # of the device
        raise InputError(f"{name}: {error}") from None
    if dtype == "bfloat16":  # the upper half of a float32
        bits = (bits.astype(numpy.uint32) << 16).view(numpy.float32)
    if dtype not in _WORDS and name != "dropout_keep":
        raise InputError(f"{name}: expected one of {', '.join(_WORDS)}, got {dtype}")
    return _WORDS.get(dtype), bits


def all_as_numpy(what, arrays):
    """The same for a dict; arrays that are None are left out."""
    if not isinstance(arrays, Mapping):
        raise InputError(f"{what}: expected a dict of arrays by name, got {type(arrays).__name__}")
    for name in arrays:
        if not isinstance(name, str):
            raise InputError(f"{what}: expected names of tensors, got {name!r}")
    return {name: as_numpy(name, value) for name, value in arrays.items() if value is not None}


def _masks(value):
    import numpy
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.cpu()
    elif not hasattr(value, "__array__") and is_on_device(value):
        value = _from_device("dropout_keep", value)[1]
    try:
        value = numpy.asarray(value)
        odd = value[(value != 0) & (value != 1)]
    except Exception as error:  # whatever another library raises
        raise InputError(f"dropout_keep: NumPy cannot read it: {type(error).__name__}: {error}") from None
    if odd.size:
        raise InputError(f"dropout_keep: expected 1 where an element is kept and 0 where it is dropped, got {odd.flat[0]!s}")
    return numpy.ascontiguousarray(value, dtype=numpy.uint8)


def _problem(op, inputs, dropout_keep, independent_roundings, words):
    keep = None if dropout_keep is None else _masks(dropout_keep)
    names = rounding_properties()
    known = asked(native().describe, op)["inputs"]
    for name in inputs if isinstance(inputs, Mapping) else ():
        if isinstance(name, str) and name not in known:
            raise InputError(f"{name}: {op} has no such input; it has {', '.join(known)}")
    return _Problem(op, all_as_numpy("inputs", inputs), {name: value for name, value in words.items() if name not in names}, keep,
                    independent_roundings, {name: value for name, value in words.items() if name in names})


def oracle(op: str, inputs: Mapping[str, Any], *, dropout_keep: Any = None, independent_roundings: bool = False,
           **words: Any) -> tuple[dict[str, numpy.ndarray], dict[str, numpy.ndarray]]:
    """The correct outputs, and how far a correct implementation may be from them: two dicts of float64 arrays.

    An allowed error of 0 asks for exactly that value; with inf any value is correct.

    dropout_keep           the masks if 0 < dropout < 1: [L-1, T, B, D*H], 1 where an element is kept; or [(L-1)*D, T, B, D*H],
                           one for each direction of the layer above
    independent_roundings  True if rounding errors are independent, as those of random numbers are, which allows less than the
                           rigorous bound does. If it is left out, they count as independent only where the rigorous bound proves
                           nothing, and the values pass a test for it (reference/arithmetic/bounds.md 6.4)
    words                  attributes, and how the implementation computes, as in backgauge.implements: accuracy_class="B",
                           numerical_contract="fp32_tf32", recomputes_co=True
    Warns if what is allowed proves nothing, and says what to declare. Raises InputError, which names the tensor, what was expected
    and what it got.
    """
    problem = _problem(op, inputs, dropout_keep, independent_roundings, words)
    answer, warning = asked(native().oracle, problem)
    if warning:
        warnings.warn(warning, stacklevel=2)
    return {name: want for name, want, _ in answer}, {name: allowed for name, _, allowed in answer}


def assert_conforms(op: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], *, dropout_keep: Any = None,
                    independent_roundings: bool = False, save: str | os.PathLike[str] | None = None, **words: Any) -> None:
    """Raises AssertionError unless every element of `outputs` is within its allowed error. The message says which is the worst, and
    what may be wrong. Agreement that proves nothing, because almost any number is allowed, is an error too: NothingProven, an
    AssertionError whose message says what to declare.

    save    folder to which the inputs and outputs of a failure are written; the message then has the command that judges them
    The other arguments are those of `oracle`. Raises InputError for what is wrong with them.
    """
    __tracebackhide__ = True  # pytest then shows the line that called this
    problem = _problem(op, inputs, dropout_keep, independent_roundings, words)
    given = all_as_numpy("outputs", outputs)
    word, text = asked(native().judge, problem, given)
    if word != "PASSED":
        raise error_of(word)(f"{op}: {word}\n{text}  repro: {_repro(problem, given, save)}")


def _repro(problem, given, save):
    if save is None:
        return 'save="FOLDER" keeps inputs and outputs for `backgauge judge`'
    folder = os.fspath(save)
    asked(native().save, problem, given, folder)
    dtype = next(word for word, _ in problem.inputs.values() if word != "i64")  # a folder has one
    values = {name: value.get(dtype) if isinstance(value, dict) else value for name, value in problem.claims.items()}
    options = [f"--dir={folder}", f"--outputs={os.path.join(folder, 'outputs')}",
               *(_option(name, value) for name, value in values.items() if value not in (None, False))]
    return f"backgauge judge {shlex.join(options)}"


def _option(name, value):
    """accuracy_class="B" as "--accuracy-class=B"."""
    return f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
