# SPDX-License-Identifier: Apache-2.0
"""Stacked RNNs in JAX on a CUDA device: lax.scan, compiled by jax.jit, and their gradients by jax.vjp. Forward and backward are one
compiled function, so that a time is that of both, without the copies between host and device.

    backgauge verify --impl=jax-cuda --tier=smoke       # it is compiled for each shape
"""
import backgauge
import jax_on_cuda
from jax_rnn import gradients_of, on_jax, staged

__version__ = jax_on_cuda.VERSION


@backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32", "f64"], accuracy_class="B", determinism="not_deterministic",
                      input_modes=["linear_input"], staged=True)
def rnn(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, rnn_mode, direction, dropout,
        dropout_keep):
    given = on_jax(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, direction, dropout, dropout_keep)
    return staged(given, lambda given: gradients_of(rnn_mode, *given))
