# SPDX-License-Identifier: Apache-2.0
"""rnn_tanh.py on the stand-in of a CUDA device: the training forward, and with it the masks, are those of `cpu`."""
import inspect

import backgauge
import ml_dtypes
import rnn_tanh
import stand_in

NAMES = inspect.signature(rnn_tanh.rnn_tanh.function).parameters


def memory(array):
    """As a kernel in NumPy reads it; what is not on the device stays as it is."""
    if not hasattr(array, "__dlpack__"):
        return array
    bits = stand_in.memory(array)
    return bits.view(ml_dtypes.bfloat16) if array.dtype == "bfloat16" else bits


@backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32"], rnn_modes=["rnn_tanh"], input_modes=["linear_input"],
                      device="cuda")
def on_device(input, input_h, input_c, params, output_backprop, output_h_backprop, direction, dropout, dropout_keep, stream, out):
    given = {"input": input, "input_h": input_h, "input_c": input_c, "params": params, "output_backprop": output_backprop,
             "output_h_backprop": output_h_backprop, "direction": direction, "dropout": dropout, "dropout_keep": dropout_keep}
    assert list(given) == list(NAMES)
    assert dropout_keep is None or dropout_keep.dtype == "uint8"

    def kernel():
        for name, value in rnn_tanh.rnn_tanh(**{name: memory(value) for name, value in given.items()}).items():
            memory(out[name])[...] = value.reshape(out[name].shape)

    stand_in.launch(stream, kernel)
