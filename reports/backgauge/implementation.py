# SPDX-License-Identifier: Apache-2.0
"""Implementations that are written in Python.

    import backgauge

    @backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"])
    def cell(cs_prev, wci, wcf, wco, i, f, o, ci, co, cs_grad, h_grad, use_peephole):
        ...
        return {"cs_prev_grad": ..., "dicfo": ..., "wci_grad": ..., "wcf_grad": ..., "wco_grad": ...}

`backgauge verify --impl=FILE.py` judges every function of the file that is decorated so.
"""
import functools
import inspect
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from backgauge.arrays.device_array import DeviceArray
from backgauge.arrays.frameworks import FRAMEWORKS
from backgauge.arrays.on_device import OnDevice
from backgauge.arrays.on_host import OnHost, as_numpy
from backgauge.arrays.results import each
from backgauge.errors import InputError
from backgauge.native import asked, native

HOST, CUDA = "cpu", "cuda"

class Function:
    """One decorated function. It can still be called as it was."""

    def __init__(self, function, op, claims, reserve_space_length, staged=False, refuses=False, device=HOST, arrays=None):
        self.function, self.op, self.claims, self.reserve_space_length = function, op, claims, reserve_space_length
        self.staged, self.refuses, self.device, self.arrays = staged, refuses, device, arrays
        self.name, self.__doc__ = getattr(function, "__name__", type(function).__name__), function.__doc__

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    @property
    def parameters(self):
        """The names that the function takes; None: all that there are."""
        given = inspect.signature(self.function).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in given):
            return None
        return [p.name for p in given]

    @property
    def on_device(self):
        """What makes arrays of device memory; None: the function computes in host memory."""
        return None if self.device == HOST else DeviceArray

    @functools.cached_property
    def _framework(self):
        return FRAMEWORKS[self.arrays]()

    def _call(self, dtype, arguments, outputs):
        return (OnHost if self.device == HOST else OnDevice)(self._framework, dtype, arguments, outputs)

    def compute(self, dtype, arguments, outputs):
        """Calls the function and fills `outputs`, dict of name to array. bfloat16 arrives as uint16."""
        if self.staged:
            call = self.prepare(dtype, arguments, outputs)
            call.run()
            call.finish()
        else:
            _compute(self.function, self._call(dtype, arguments, outputs))

    def refuse(self, arguments):
        """Calls the function with arguments of a malformed call, and raises as it does, also when its results are looked at."""
        if "out" in arguments:
            arguments["out"] = {}
        results = self.function(**arguments)
        if self.staged:
            timed, named = _timed_and_named(results)
            results = each(timed(), as_numpy)
            results = results if named is None else named(results)
        each(results, as_numpy)

    def prepare(self, dtype, arguments, outputs):
        """The same for the benchmark, of a staged function: a StagedCall, whose run() alone is timed."""
        call = self._call(dtype, arguments, outputs)
        with call.within():
            return StagedCall(self.function(**call.arguments), call)

    def compute_nothing(self, dtype, arguments, outputs):
        """compute() around a function that leaves its outputs as they are."""
        _compute(lambda **_: None, self._call(dtype, {**arguments, "out": outputs}, outputs))

    def prepare_nothing(self, dtype, arguments, outputs):
        """prepare() of a call whose timed part computes nothing."""
        call = self._call(dtype, {}, outputs)
        return StagedCall(lambda: call.outputs, call)


def _compute(function, call):
    with call.within():
        call.store(function(**call.arguments))


def _timed_and_named(given):
    """The parts that a staged function has returned: what is timed, and what gives its results their names, or None."""
    timed, *rest = given if isinstance(given, tuple) else (given,)
    if len(rest) > 1 or not all(callable(part) for part in (timed, *rest)):
        raise TypeError("staged: expected a function, or a pair of functions, to be returned, got "
                        f"{'a tuple of ' + str(len(given)) if isinstance(given, tuple) else type(given).__name__}")
    return timed, rest[0] if rest else None


class StagedCall:
    """A call of a staged function, which has returned `given`."""

    def __init__(self, given, call):
        self._call = call
        self._timed, self._named = _timed_and_named(given)

    def run(self):
        """What is timed: the function, and a look at its results, which computes those that are lazy."""
        with self._call.within():
            self._results = self._call.looked_at(self._timed())

    def finish(self):
        with self._call.within():
            self._call.store(self._results if self._named is None else self._named(self._results))


def claim_words(caller, op, *, dtypes, **claims):
    """Claims about `op` with a value for each of its properties. `dtypes` None: all of the op. Raises InputError, which begins
    with `caller`."""
    return asked(native().claim_words, f"{caller}: ", op, {"dtypes": dtypes, **claims})


def implements(op: str, *, dtypes: Sequence[str], reserve_space_length: Callable[..., int] | None = None, staged: bool = False,
               refuses: bool = False, device: str = HOST, arrays: str | None = None,
               **claims: Any) -> Callable[[Callable[..., Any]], Function]:
    """Declares that the decorated function computes `op`, and for which calls.

    op      TensorFlow's name: LSTMBlockCellGrad, BlockLSTMGradV2, CudnnRNNBackprop; or CudnnRNN for a training forward that
            belongs to it. Without one, the forward is that of backgauge's `cpu`.
    dtypes  some of f16, bf16, f32, f64.
    claims  any other property that `backgauge list` explains: what else it is restricted to, such as use_peephole=[False],
            rnn_modes=["lstm", "gru"], dropout=False or multiple_of_H=8, and how it computes, such as accuracy_class="B",
            determinism="not_deterministic" or recomputes_co=True. A dict has a value for each dtype: {"f16": "B", "bf16": "A'"}.
    reserve_space_length
            of a forward: a function of T, B, I, H, L, D and the attributes, by keyword, that returns the elements of
            reserve_space; without one it has none.
    refuses True: the function checks its arguments itself. It is given malformed calls too, as far as arguments can say them, and
            must raise an exception. LSTM ops only; the function must take all inputs. False: they are refused before.
    device  "cpu", or "cuda": the current CUDA device, in whose memory all tensors are. All functions of a file are for one device.
    arrays  None: NumPy's arrays, or on a device DeviceArrays, which DLPack and __cuda_array_interface__ describe; "torch" or "jax":
            arrays of that library, which share the memory (those of JAX are copies).

    The function takes, by keyword, any of the op's inputs (read-only NumPy arrays; seq_len_max is an int), its attributes,
    `num_threads`, `out` (a dict of arrays to be filled), and for CudnnRNNBackprop `dropout_keep` (the masks, [L-1, T, B, D*H],
    1 where an element is kept; with masks_per_direction=True [(L-1)*D, T, B, D*H], for layer 1 first those of its forward and its
    backward direction; None where nothing is dropped). Absent tensors are None. It returns the outputs:
    a dict by name, or a sequence in their order, as anything that NumPy or DLPack reads. With `arrays`, and on a device, results must
    have the dtypes of the op.

    On a device the function may also take `stream`, the handle of the stream on which its work must be ordered; PyTorch's current
    stream is that one. It returns arrays on the device, contiguous, of any library with DLPack or __cuda_array_interface__. They are
    ordered by these protocols, copied into the op's outputs, and waited for; filling `out` needs neither. Scalars and attributes are
    numbers and words of the host.

    staged  True: part of the work, such as the forward pass of a framework, comes before the gradient. The function does that work
            and returns a function without parameters that computes the gradient. `backgauge bench` times only that function,
            together with a look at its results, so that lazy results are computed. It returns the outputs; or, if the first function
            returned a pair, the second of the pair, which is not timed, turns its results (NumPy arrays in the same dict or
            list; on a device as they are) into the outputs. All of it runs again for each call. The judge runs it all, and with
            --untrusted all of it is timed.
    """
    if dtypes is None:
        raise InputError("implements: dtypes: expected a list of words, got None")
    claims = claim_words("implements", op, dtypes=dtypes, **claims)
    if not isinstance(staged, bool):
        raise InputError(f"implements: staged: expected True or False, got {staged!r}")
    if staged and op == "CudnnRNN":
        raise InputError("implements: staged: expected False for CudnnRNN, which is not timed")
    if not isinstance(refuses, bool):
        raise InputError(f"implements: refuses: expected True or False, got {refuses!r}")
    if device not in (HOST, CUDA):
        raise InputError(f"implements: device: expected {HOST} or {CUDA}, got {device!r}")
    if arrays not in FRAMEWORKS:
        raise InputError(f"implements: arrays: expected None, {' or '.join(word for word in FRAMEWORKS if word)}, got {arrays!r}")
    if refuses and (device != HOST or arrays is not None):
        raise InputError("implements: refuses: expected False unless the function takes NumPy's arrays, as which malformed calls are given")
    return lambda function: Function(function, op, claims, reserve_space_length, staged, refuses, device, arrays)


class Description:
    """What a file implements, as the native module reads it. An adapter has the name under which it is found."""

    def __init__(self, module, file):
        self.name = pathlib.Path(file).stem.removeprefix("adapter_")
        self.version = str(getattr(module, "__version__", "0"))
        self.description = (module.__doc__ or "").strip().partition("\n")[0] or f"implementation in {self.name}.py"
        self.functions = [value for value in vars(module).values() if isinstance(value, Function)]
