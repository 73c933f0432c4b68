# SPDX-License-Identifier: Apache-2.0
"""Stacked RNNs in JAX: lax.scan, compiled by jax.jit, and their gradients by jax.vjp. Forward and backward are one compiled function,
so that a time is that of both, with the copies from and to JAX's arrays.

    backgauge verify --impl=jax --tier=smoke       # it is compiled for each shape
"""
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import backgauge
import jax
from jax_rnn import gradients_of, on_jax

__version__ = jax.__version__


@backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32", "f64"], accuracy_class="B", input_modes=["linear_input"])
def rnn(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, rnn_mode, direction, dropout,
        dropout_keep):
    return gradients_of(rnn_mode, *on_jax(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop,
                                          direction, dropout, dropout_keep))
