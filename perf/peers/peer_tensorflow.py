# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own ops, as raw ops, on the tensors of the case as they are."""

import sys

import protocol

OPS = {"lstm_block_cell_grad": "LSTMBlockCellGrad", "block_lstm_grad_v2": "BlockLSTMGradV2"}


class Loaded:
    def __init__(self, op, arguments):
        self._op, self._arguments = op, arguments
        self._results = op(**arguments)
        self.outputs = list(self._results._fields)

    def run(self):
        self._results = self._op(**self._arguments)

    def results(self):
        return {name: getattr(self._results, name).numpy() for name in self.outputs}


class Peer:
    def __init__(self, threads):
        import tensorflow
        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
        tensorflow.config.threading.set_inter_op_parallelism_threads(1)
        tensorflow.config.set_visible_devices([], "GPU")
        self._tf = tensorflow
        self.version = tensorflow.__version__

    def load(self, case):
        if case.op not in OPS:
            raise protocol.Skip("has no such op for a CPU")
        with self._tf.device("CPU"):
            arguments = {name: self._tf.constant(array) for name, array in case.inputs.items()}
            arguments = self._unread(case) | arguments
        return Loaded(getattr(self._tf.raw_ops, OPS[case.op]),
                      arguments | {"use_peephole": bool(case.attributes["use_peephole"])})

    def _unread(self, case):
        """What the cell's gradient asks for and does not read, which is left out of large cases."""
        if case.op != "lstm_block_cell_grad":
            return {}
        B, I, H = (case.dims[name] for name in "BIH")  # noqa: E741
        shapes = {"x": [B, I], "h_prev": [B, H], "w": [I + H, 4 * H], "b": [4 * H]}
        return {name: self._tf.zeros(shape, case.dtype) for name, shape in shapes.items() if name not in case.inputs}


if __name__ == "__main__":
    sys.exit(protocol.serve("tensorflow", Peer))
