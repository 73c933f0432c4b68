# SPDX-License-Identifier: Apache-2.0
"""What the peers of this folder share: the shapes of a CudnnRNNBackprop case, and where params has what."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "perf/peers"))
import protocol  # noqa: E402

GATES = {"relu": 1, "tanh": 1, "lstm": 4, "gru": 3}


class Net:
    """T, B, I, H, L layers, D directions, mode, gates; or protocol.Skip where frameworks have no such net."""

    def __init__(self, case):
        if case.op != "cudnn_rnn_backprop":
            raise protocol.Skip("has no such op")
        self.mode, self.L = case.word("mode", "lstm"), int(case.word("layers", "1"))
        self.D = 2 if case.word("dir", "uni") == "bi" else 1
        self.gates = GATES[self.mode]
        self.T, self.B, self.I = case.inputs["input"].shape
        self.H = case.inputs["input_h"].shape[2]
        if case.word("in", "linear") != "linear":
            raise protocol.Skip("has no skip_input")
        if float(case.word("drop", "0")) > 0 and self.L > 1:
            raise protocol.Skip("draws dropout masks of its own")
        if 0 in (self.T, self.B, self.I, self.H):
            raise protocol.Skip("has no empty sequence")

    def width(self, layer):
        return self.I if layer == 0 else self.D * self.H

    def block(self, layer, direction):
        """Slices of params and shapes of W, R, bW and bR, all gates of each one below the other: the matrices of all
        pseudo-layers stand first, then the biases of all (reference/semantics.md 4.2)."""
        rows, before, begin = self.gates * self.H, layer * self.D + direction, 0
        widths = [self.width(index // self.D) for index in range(self.L * self.D)]
        begin = sum(rows * (width + self.H) for width in widths[:before])
        biases = sum(rows * (width + self.H) for width in widths) + 2 * rows * before
        width = widths[before]
        found, sizes = [], [(begin, (rows, width)), (begin + rows * width, (rows, self.H)), (biases, (rows,)),
                            (biases + rows, (rows,))]
        for start, shape in sizes:
            count = shape[0] * (shape[1] if len(shape) > 1 else 1)
            found.append((slice(start, start + count), shape))
        return found


class Done:
    """Results that `load` has computed already: these peers are judged, not timed."""

    def __init__(self, outputs):
        self._results = {name: array.__array__() for name, array in outputs.items()}
        self.outputs = list(self._results)

    def run(self):
        pass

    def results(self):
        return self._results
