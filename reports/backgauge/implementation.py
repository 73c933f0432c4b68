# SPDX-License-Identifier: Apache-2.0
"""Implementations that are written in Python.

    import backgauge

    @backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"])
    def cell(cs_prev, wci, wcf, wco, i, f, o, ci, co, cs_grad, h_grad, use_peephole):
        ...
        return {"cs_prev_grad": ..., "dicfo": ..., "wci_grad": ..., "wcf_grad": ..., "wco_grad": ...}

`backgauge verify --impl=FILE.py` judges every function of the file that is decorated so.
"""
import inspect
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from backgauge.errors import InputError
from backgauge.native import asked, native


class Function:
    """One decorated function. It can still be called as it was."""

    def __init__(self, function, op, claims, reserve_space_length, staged=False, refuses=False):
        self.function, self.op, self.claims, self.reserve_space_length = function, op, claims, reserve_space_length
        self.staged, self.refuses = staged, refuses
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

    def compute(self, dtype, arguments, outputs):
        """Calls the function and fills `outputs`, dict of name to array. bfloat16 arrives as uint16."""
        if self.staged:
            call = self.prepare(dtype, arguments, outputs)
            call.run()
            call.finish()
            return
        arguments, outputs = _given(dtype, arguments, outputs)
        store(self.function(**arguments), outputs, written="out" in arguments)

    def refuse(self, arguments):
        """Calls the function with arguments of a malformed call, and raises as it does, also when its results are looked at."""
        if "out" in arguments:
            arguments["out"] = {}
        given = self.function(**arguments)
        _looked_at(StagedCall(given, {}, written=False).call() if self.staged else given)

    def prepare(self, dtype, arguments, outputs):
        """The same for the benchmark, of a staged function: a StagedCall, whose run() alone is timed."""
        arguments, outputs = _given(dtype, arguments, outputs)
        return StagedCall(self.function(**arguments), outputs, written="out" in arguments)

    def compute_nothing(self, dtype, arguments, outputs):
        """compute() around a function that leaves its outputs as they are."""
        _NOTHING.compute(dtype, {**arguments, "out": outputs}, outputs)

    def prepare_nothing(self, dtype, arguments, outputs):
        """prepare() of a call whose timed part computes nothing."""
        return StagedCall(lambda: outputs, outputs, written=False)


class StagedCall:
    """A call of a staged function, which has returned `given`."""

    def __init__(self, given, outputs, written):
        timed, *rest = given if isinstance(given, tuple) else (given,)
        if len(rest) > 1 or not all(callable(each) for each in (timed, *rest)):
            raise TypeError("staged: expected a function, or a pair of functions, to be returned, got "
                            f"{'a tuple of ' + str(len(given)) if isinstance(given, tuple) else type(given).__name__}")
        self.timed, self.as_outputs = timed, rest[0] if rest else None
        self.outputs, self.written = outputs, written

    def run(self):
        """What is timed: the function, and a look at its results, which computes those that are lazy."""
        self.results = _looked_at(self.timed())

    def finish(self):
        store(self._outputs(), self.outputs, written=self.written)

    def call(self):
        """All of it; its outputs."""
        self.run()
        return self._outputs()

    def _outputs(self):
        return self.results if self.as_outputs is None else self.as_outputs(self.results)


def _given(dtype, arguments, outputs):
    """Arguments and outputs as the function takes them."""
    if dtype == "bf16":
        arguments = {name: _as_bfloat16(value) for name, value in arguments.items()}
        outputs = {name: _as_bfloat16(value) for name, value in outputs.items()}
    return ({**arguments, "out": outputs} if "out" in arguments else arguments), outputs


def _looked_at(results):
    """Results of any structure as NumPy has them, without a copy where their memory can be read."""
    if results is None:
        return None
    if isinstance(results, dict):
        return {name: _array(value) for name, value in results.items()}
    return [_array(value) for value in results] if isinstance(results, (tuple, list)) else _array(results)


def _array(value):
    import numpy
    return numpy.from_dlpack(value) if not hasattr(value, "__array__") and hasattr(value, "__dlpack__") else numpy.asarray(value)


def _as_bfloat16(value):
    import ml_dtypes
    return value.view(ml_dtypes.bfloat16) if getattr(value, "dtype", None) == "uint16" else value


def store(result, outputs, written):
    """Copies what a function returned into `outputs`: a dict by name, a sequence in the order of the op's outputs, or,
    for a function that has filled `out` itself (`written`), None."""
    import numpy
    if result is None and written:
        return
    if not isinstance(result, dict):
        given = list(result) if isinstance(result, (tuple, list)) else [result]
        if result is None or len(given) != len(outputs):
            raise ValueError(f"expected {len(outputs)} outputs: {', '.join(outputs)}; got "
                             f"{'None' if result is None else len(given)}")
        result = dict(zip(outputs, given))
    if result.keys() != outputs.keys():
        raise ValueError(f"expected the outputs {', '.join(outputs)}; got {', '.join(map(str, result)) or 'none'}")
    for name, to in outputs.items():
        value = _array(result[name])
        if value.shape != to.shape:
            raise ValueError(f"{name}: expected shape {list(to.shape)}, got {list(value.shape)}")
        # bfloat16 is a kind of its own, to which NumPy thinks nothing can be cast.
        numpy.copyto(to, value, casting="same_kind" if to.dtype.kind == "f" else "unsafe")


_NOTHING = Function(lambda **_: None, "", {}, None)


def claim_words(caller, op, *, dtypes, **claims):
    """Claims about `op` with a value for each of its properties. `dtypes` None: all of the op. Raises InputError, which begins
    with `caller`."""
    return asked(native().claim_words, f"{caller}: ", op, {"dtypes": dtypes, **claims})


def implements(op: str, *, dtypes: Sequence[str], reserve_space_length: Callable[..., int] | None = None, staged: bool = False,
               refuses: bool = False, **claims: Any) -> Callable[[Callable[..., Any]], Function]:
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

    The function takes, by keyword, any of the op's inputs (read-only NumPy arrays; seq_len_max is an int), its attributes,
    `num_threads`, `out` (a dict of arrays to be filled), and for CudnnRNNBackprop `dropout_keep` (the masks, [L-1, T, B, D*H],
    1 where an element is kept; None where nothing is dropped). Absent tensors are None. It returns the outputs:
    a dict by name, or a sequence in their order, as anything that NumPy or DLPack reads.

    staged  True: part of the work, such as the forward pass of a framework, comes before the gradient. The function does that work
            and returns a function without parameters that computes the gradient. `backgauge bench` times only that function,
            together with a look at its results, so that lazy results are computed. It returns the outputs; or, if the first function
            returned a pair, the second of the pair, which is not timed, turns its results (NumPy arrays in the same dict or
            list) into the outputs. All of it runs again for each call. The judge runs it all, and with --untrusted all of it is
            timed.
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
    return lambda function: Function(function, op, claims, reserve_space_length, staged, refuses)


class Description:
    """What a file implements, as the native module reads it. An adapter has the name under which it is found."""

    def __init__(self, module, file):
        self.name = pathlib.Path(file).stem.removeprefix("adapter_")
        self.version = str(getattr(module, "__version__", "0"))
        self.description = (module.__doc__ or "").strip().partition("\n")[0] or f"implementation in {self.name}.py"
        self.functions = [value for value in vars(module).values() if isinstance(value, Function)]
