# SPDX-License-Identifier: Apache-2.0
"""Reproduces the findings about Keras on TensorFlow without backgauge."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from report import refusal, say, say_class

T, B, I, H = 5, 4, 16, 16

seen = {name: refusal(lambda kind=kind: kind(H)(tf.zeros([0, 2, I])))
        for name, kind in (("LSTM", tf.keras.layers.LSTM), ("GRU", tf.keras.layers.GRU), ("SimpleRNN", tf.keras.layers.SimpleRNN))}
say("an LSTM fails if B = 0", seen["LSTM"] and not seen["GRU"], "; ".join(
    f"tf.keras.layers.{name}({H})(tf.zeros([0, 2, {I}])): {text or 'accepted'}" for name, text in seen.items()))


def gradients(dtype, narrow):
    """Those of an LSTM, of values that the narrow type has."""
    draw = np.random.default_rng(1)

    def values(*shape):
        return tf.cast(tf.cast(draw.standard_normal(shape), narrow), dtype)

    layer = tf.keras.layers.LSTM(H, return_sequences=True, dtype=dtype, kernel_initializer="zeros", recurrent_initializer="zeros")
    layer.build((None, None, I))
    weights = [values(I, 4 * H), values(H, 4 * H), values(4 * H)]
    layer.cell.kernel, layer.cell.recurrent_kernel, layer.cell.bias = weights
    x, upstream = values(B, T, I), values(B, T, H)
    with tf.GradientTape() as tape:
        tape.watch([x, *weights])
        output = layer(x)
    return [tf.cast(each, tf.float64).numpy() for each in tape.gradient(output, [x, *weights], output_gradients=upstream)]


for narrow in ("float16", "bfloat16"):
    say_class(f"tf.keras.layers.LSTM({H})", narrow, gradients(narrow, narrow), gradients("float64", narrow))
