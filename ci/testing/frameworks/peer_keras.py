# SPDX-License-Identifier: Apache-2.0
"""Keras' GRU, LSTM and SimpleRNN on TensorFlow, and their gradients by GradientTape, for frameworks_check.py."""

import sys

import shapes
from shapes import protocol

# Keras' order of the gates, in those of params: GRU z r n of r z n; LSTM i f g o of the same.
GATES = {"gru": (1, 0, 2), "lstm": (0, 1, 2, 3), "tanh": (0,), "relu": (0,)}


class Peer:
    def __init__(self, threads):
        import tensorflow
        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
        tensorflow.config.set_visible_devices([], "GPU")
        self._tf = tensorflow
        self.version = tensorflow.keras.__version__

    def load(self, case):
        net, tf, tensors = shapes.Net(case), self._tf, case.inputs
        given = {name: tf.constant(tensors[name])
                 for name in ("input", "input_h", "params", "input_c") if name in tensors}
        upstream = [tf.constant(tensors[f"{name}_backprop"])
                    for name in ("output", "output_h", "output_c")[:3 if net.mode == "lstm" else 2]]
        with tf.GradientTape() as tape:
            tape.watch(list(given.values()))
            made = self._forward(net, case.dtype, given)
        gradients = tape.gradient(made, list(given.values()), output_gradients=upstream,
                                  unconnected_gradients=tf.UnconnectedGradients.ZERO)
        outputs = dict(zip(("output", "output_h", "output_c"), made))
        outputs |= {f"{name}_backprop": gradient for name, gradient in zip(given, gradients)}
        return shapes.Done(outputs)

    def _forward(self, net, dtype, given):
        tf = self._tf
        x, states = tf.transpose(given["input"], [1, 0, 2]), []
        for layer in range(net.L):
            sides = []
            for direction in range(net.D):
                first = [given[name][layer * net.D + direction] for name in ("input_h", "input_c") if name in given]
                cell, kernel, recurrent, bias = self._cell(net, dtype, given["params"], layer, direction)
                steps, before = [], first
                order = range(net.T) if direction == 0 else range(net.T - 1, -1, -1)
                cell.build((net.B, net.width(layer)))
                cell.kernel, cell.recurrent_kernel, cell.bias = kernel, recurrent, bias
                for t in order:
                    h, before = cell(x[:, t], before)
                    steps.append(h)
                states.append(before)
                sides.append(tf.stack(steps if direction == 0 else steps[::-1], axis=1))
            x = tf.concat(sides, axis=2)
        return [tf.transpose(x, [1, 0, 2]), *(tf.stack(kind) for kind in zip(*states))]

    def _cell(self, net, dtype, params, layer, direction):
        """A cell, and its weights as functions of params, so that the tape follows them there."""
        tf, layers = self._tf, self._tf.keras.layers
        (w, r, b_w, b_r) = ([tf.split(tf.reshape(params[at], shape), net.gates)[gate] for gate in GATES[net.mode]]
                            for at, shape in net.block(layer, direction))
        kernel, recurrent = (tf.transpose(tf.concat(side, axis=0)) for side in (w, r))
        inputs, states = (tf.concat(side, axis=0) for side in (b_w, b_r))
        if net.mode == "gru":
            return layers.GRUCell(net.H, reset_after=True, dtype=dtype), kernel, recurrent, tf.stack([inputs, states])
        if net.mode == "lstm":
            return layers.LSTMCell(net.H, dtype=dtype), kernel, recurrent, inputs + states
        return layers.SimpleRNNCell(net.H, activation=net.mode, dtype=dtype), kernel, recurrent, inputs + states


if __name__ == "__main__":
    sys.exit(protocol.serve("keras", Peer))
