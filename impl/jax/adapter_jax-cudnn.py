# SPDX-License-Identifier: Apache-2.0
"""The LSTM of jax.experimental.rnn on a CUDA device, by cuDNN, float32 with TF32 off. It takes the flat params as they are. The backward is
timed, without the copies between host and device.

    backgauge verify --impl=jax-cudnn --tier=smoke
"""
import backgauge
import jax
import jax.numpy as jnp
import jax_on_cuda
from jax.experimental import rnn as cudnn
from jax_rnn import on_jax, staged

__version__ = jax_on_cuda.VERSION


# cuDNN draws its own masks of 0 < dropout < 1, which JAX does not show.
@backgauge.implements("CudnnRNNBackprop", dtypes=["f32"], rnn_modes=["lstm"], input_modes=["linear_input"], dropout=False,
                      determinism="not_deterministic", staged=True)
def lstm(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, direction, dropout):
    D, _, given, upstream = on_jax(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, direction,
                                   dropout, None)
    T, B, I = input.shape
    L, H = input_h.shape[0] // D, input_h.shape[2]

    def forward(x, params, *states):  # its data has the batch first
        lengths = jnp.full(B, T, jnp.int32)
        output, *last = cudnn.lstm(x.swapaxes(0, 1), *states, params, lengths, I, H, L, float(dropout), D == 2, jax.lax.Precision.HIGHEST)
        return output.swapaxes(0, 1), *last

    backward = jax.vjp(forward, *given.values())[1]

    def gradients(upstream):
        return {f"{name}_backprop": value for name, value in zip(given, backward(upstream))}

    return staged(upstream, gradients)
