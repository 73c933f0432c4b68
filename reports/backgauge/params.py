# SPDX-License-Identifier: Apache-2.0
"""The layout of `params` of CudnnRNN and CudnnRNNBackprop (reference/semantics.md, section 4)."""
import dataclasses

from backgauge.errors import InputError

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


@dataclasses.dataclass(frozen=True)
class Block:
    """The parameters of one layer and direction, each a pair of a slice of `params` and a shape: W [G*H, width], R [G*H, H],
    bW [G*H], bR [G*H]. The rows are those of gate after gate: i, f, n, o of an lstm; r, z, n of a gru."""
    W: tuple
    R: tuple
    bW: tuple
    bR: tuple


def params_layout(rnn_mode, I, H, num_layers, num_directions, input_mode="linear_input"):
    """The blocks of all layers and directions; that of `layer` and `direction` is number layer * num_directions + direction.

    rnn_mode    rnn_relu, rnn_tanh, lstm or gru
    I, H        sizes of the input and of the hidden state, in elements
    input_mode  with skip_input (also auto_select if I == H), layer 0 has no W: its width is 0
    Raises InputError for an unknown rnn_mode or input_mode.
    """
    if rnn_mode not in _GATES:
        raise InputError(f"rnn_mode: expected one of {', '.join(_GATES)}, got {rnn_mode}")
    if input_mode not in ("linear_input", "skip_input", "auto_select"):
        raise InputError(f"input_mode: expected linear_input, skip_input or auto_select, got {input_mode}")
    skips = input_mode == "skip_input" or (input_mode == "auto_select" and I == H)
    rows, at = _GATES[rnn_mode] * H, 0

    def take(*shape):
        nonlocal at
        begin = at
        at += rows if len(shape) == 1 else rows * shape[1]
        return slice(begin, at), shape

    widths = [(0 if skips else I) if layer == 0 else num_directions * H
              for layer in range(num_layers) for _ in range(num_directions)]
    matrices = [(take(rows, width), take(rows, H)) for width in widths]
    return [Block(W, R, take(rows), take(rows)) for W, R in matrices]
