# SPDX-License-Identifier: Apache-2.0
"""The cases of a tier as arrays, for tests of one's own.

    for case in backgauge.cases("LSTMBlockCellGrad", tier="smoke", dtypes=["f32"]):
        case.assert_conforms(my_function(**case.inputs, **case.attributes))
"""
from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backgauge.errors import InputError, error_of
from backgauge.native import asked, native, rounding_properties
from backgauge.reference import all_as_numpy

if TYPE_CHECKING:
    import numpy


class Case:
    """One case. Its arrays are copies: whatever is done to them, outputs are judged for the inputs of the line.

    line          the case line, with the checksum of its inputs
    op, dtype     TensorFlow's name; f16, bf16, f32 or f64
    skip_reason   why outputs would prove nothing even if they are correct, or "". Only for cases of a tier
    """

    line: str
    op: str
    dtype: str
    skip_reason: str

    def __init__(self, line: str, claims: Mapping[str, Any], redraw: bool):
        self._claims = claims
        self._drawn = asked(native().DrawnCase, line, dict(claims), redraw)
        self.line, self.op, self.dtype = self._drawn.line, self._drawn.op, self._drawn.dtype
        self.skip_reason = self._drawn.skip_reason

    def __repr__(self) -> str:
        return self.repro

    @functools.cached_property
    def inputs(self) -> dict[str, Any]:
        """dict of name to array, in the dtype of the case (bfloat16 of ml_dtypes); seq_len_max is an int. Elements that the op
        must not read may be NaN. CudnnRNNBackprop: without what its forward computes."""
        return _arrays(self._drawn.inputs())

    @functools.cached_property
    def attributes(self) -> dict[str, Any]:
        """dict of TensorFlow's names and words."""
        return self._drawn.attributes()

    @functools.cached_property
    def forward(self) -> dict[str, Any]:
        """What the training forward returns for these inputs, correctly rounded: `output`, `output_h` and, for an LSTM, `output_c`
        of CudnnRNNBackprop. It has no reserve_space, whose contents belong to an implementation. {} for the other ops, whose
        inputs have everything."""
        return _arrays(self._drawn.forward())

    @functools.cached_property
    def dropout_keep(self) -> numpy.ndarray | None:
        """The dropout masks, uint8 [L-1, T, B, D*H], 1 where an element is kept; None where nothing is dropped by chance. A golden case
        of cuDNN has D times as many, one for each direction of the layer above."""
        return self._drawn.dropout_keep()

    def oracle(self) -> tuple[dict[str, numpy.ndarray], dict[str, numpy.ndarray]]:
        """(want, allowed), as of backgauge.oracle; `allowed` is narrower where the inputs are random."""
        answer = asked(self._drawn.oracle)
        return {name: want for name, want, _ in answer}, {name: allowed for name, _, allowed in answer}

    def assert_conforms(self, outputs: Mapping[str, Any]) -> None:
        """Raises AssertionError unless every element of the gradient's `outputs`, a dict by name, is within its allowed error."""
        __tracebackhide__ = True  # pytest then shows the line that called this
        word, text = asked(self._drawn.judge, all_as_numpy("outputs", outputs))
        if word != "PASSED":
            raise error_of(word)(f"{self.op}: {word} {self.line}\n{text}  repro: {self.repro}.assert_conforms(outputs)")

    @property
    def repro(self) -> str:
        """An expression that makes this case again."""
        rounding = rounding_properties()
        claims = "".join(f", {name}={value!r}" for name, value in self._claims.items() if name in rounding)
        return f"backgauge.case({self.line!r}{claims})"


def _arrays(stored):
    return {name: _bfloat16(value) if word == "bf16" else value for name, (word, value) in stored.items()}


def _bfloat16(bits):
    try:
        import ml_dtypes
    except ImportError:
        raise InputError("bfloat16 arrays need the package ml_dtypes; or choose other dtypes, such as dtypes=[\"f32\"]") from None
    return bits.view(ml_dtypes.bfloat16)


def case(line: str, **claims: Any) -> Case:
    """The case of a line, as `backgauge oracle --case=LINE` makes it. `claims` as of `cases`. Raises InputError."""
    if not isinstance(line, str):
        raise InputError(f"case: expected a case line, got {line!r}")
    return Case(line, claims, redraw=False)


def planned_lines(op: str, *, tier: str = "smoke", dtypes: Sequence[str] | None = None, seed: int = 1, **claims: Any) -> list[str]:
    """The lines of `cases`, before their values are drawn: quick, and the same in every process. Raises InputError."""
    if not isinstance(op, str) or not isinstance(tier, str):
        raise InputError(f"cases: expected words for op and tier, got {op!r} and {tier!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError(f"cases: seed: expected a whole number of 0 to 2^64 - 1, got {seed!r}")
    return asked(native().planned_lines, op, tier, seed, {"dtypes": dtypes, **claims})


def case_of_tier(line: str, **claims: Any) -> Case:
    """The case that `backgauge verify` would judge in place of a planned line: with other values if those prove nothing."""
    return Case(line, claims, redraw=True)


def cases(op: str, *, tier: str = "smoke", dtypes: Sequence[str] | None = None, seed: int = 1,
          **claims: Any) -> Iterator[Case]:
    """Iterates over the cases of a tier for one op, in running order, without malformed calls. Each is drawn when it is reached.

    op      LSTMBlockCellGrad, BlockLSTMGradV2 or CudnnRNNBackprop
    tier    smoke, ci or full
    dtypes  some of f16, bf16, f32, f64; None: all of the op
    claims  what the function supports and how it computes, as in backgauge.implements: use_peephole=[False], rnn_modes=["gru"],
            dropout=False, accuracy_class="B". Other cases are left out, and so are cases that prove nothing
    Raises InputError before the first case.
    """
    lines = planned_lines(op, tier=tier, dtypes=dtypes, seed=seed, **claims)
    every = (case_of_tier(line, **claims) for line in lines)
    return (each for each in every if not each.skip_reason)
