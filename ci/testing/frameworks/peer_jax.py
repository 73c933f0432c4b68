# SPDX-License-Identifier: Apache-2.0
"""JAX's LSTM (jax.experimental.rnn.lstm_ref) and its gradient by jax.vjp, for frameworks_check.py."""

import sys

import shapes
from shapes import protocol


class Peer:
    def __init__(self, threads):
        import jax
        import jax.experimental.rnn
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        self._jax = jax
        self.version = jax.__version__

    def load(self, case):
        net = shapes.Net(case)
        if net.mode != "lstm":
            raise protocol.Skip("jax.experimental.rnn has the LSTM only")
        jax, numpy = self._jax, self._jax.numpy
        tensors = case.inputs
        lengths = numpy.full(net.B, net.T, dtype=numpy.int32)

        def forward(x, h, c, params):
            blocks = [[params[at].reshape(shape) for at, shape in net.block(layer, direction)]
                      for layer in range(net.L) for direction in range(net.D)]
            weights = [dict(enumerate(kind)) for kind in zip(*blocks)]
            y, h_last, c_last = jax.experimental.rnn.lstm_ref(
                x.transpose(1, 0, 2), h, c, *weights, lengths, net.I, net.H, net.L, 0.0, net.D == 2)
            return y.transpose(1, 0, 2), h_last, c_last

        arguments = [numpy.asarray(tensors[name]) for name in ("input", "input_h", "input_c", "params")]
        made, pull = jax.vjp(forward, *arguments)
        upstream = tuple(numpy.asarray(tensors[name])
                         for name in ("output_backprop", "output_h_backprop", "output_c_backprop"))
        gradients = pull(upstream)
        outputs = dict(zip(("output", "output_h", "output_c"), made)) | dict(
            zip(("input_backprop", "input_h_backprop", "input_c_backprop", "params_backprop"), gradients))
        return shapes.Done(outputs)


if __name__ == "__main__":
    sys.exit(protocol.serve("jax", Peer))
