# SPDX-License-Identifier: Apache-2.0
"""Keras' LSTM, GRU and SimpleRNN on TensorFlow and the CPU: the backward by GradientTape. The forward is not timed.

    backgauge verify --impl=keras
"""
import itertools
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import backgauge
import tensorflow as tf

__version__ = tf.keras.__version__
# The pool cannot follow num_threads; OMP_NUM_THREADS is the most that this process may use.
tf.config.threading.set_intra_op_parallelism_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.set_visible_devices([], "GPU")
layers = tf.keras.layers

# The gates of params, in Keras' order: z r n of r z n. Those of the others are in the same order.
GATES = {"rnn_relu": [0], "rnn_tanh": [0], "lstm": [0, 1, 2, 3], "gru": [1, 0, 2]}


# Until clear_session is called, Keras keeps about 0.14 MB of each layer that was made: measured as the growth of the resident memory, 41 to
# 42 MB for each 300 layers of one shape, made eight times.
CALLS_OF_A_SESSION = 100
calls = itertools.count(1)


def net(rnn_mode, H, width, direction, params, block):
    """A layer whose weights are functions of params, so that the tape follows them there."""
    order = GATES[rnn_mode]
    W, R, bW, bR = (tf.concat([tf.split(tf.reshape(params[at], shape), len(order))[gate] for gate in order], axis=0)
                    for at, shape in (block.W, block.R, block.bW, block.bR))
    # The weights that it starts with are replaced; those of the default initializer cannot be drawn in bfloat16.
    options = {"return_sequences": True, "return_state": True, "go_backwards": direction == 1, "dtype": params.dtype.name,
               "kernel_initializer": "zeros", "recurrent_initializer": "zeros"}
    made = {"lstm": lambda: layers.LSTM(H, **options), "gru": lambda: layers.GRU(H, reset_after=True, **options),
            "rnn_relu": lambda: layers.SimpleRNN(H, activation="relu", **options),
            "rnn_tanh": lambda: layers.SimpleRNN(H, activation="tanh", **options)}[rnn_mode]()
    made.build((None, None, width))
    made.cell.kernel, made.cell.recurrent_kernel = tf.transpose(W), tf.transpose(R)
    made.cell.bias = tf.stack([bW, bR]) if rnn_mode == "gru" else bW + bR
    return made


@backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32", "f64"], accuracy_class="B", input_modes=["linear_input"],
                      staged=True)
def rnn(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, rnn_mode, direction, dropout,
        dropout_keep):
    if next(calls) % CALLS_OF_A_SESSION == 0:
        tf.keras.backend.clear_session()
    I, H, D = input.shape[2], input_h.shape[2], 2 if direction == "bidirectional" else 1
    L = input_h.shape[0] // D
    layout = backgauge.params_layout(rnn_mode, I, H, L, D)
    given = {name: tf.constant(value) for name, value in
             {"input": input, "input_h": input_h, "input_c": input_c, "params": params}.items() if value is not None}
    with tf.GradientTape() as tape:
        tape.watch(list(given.values()))
        x, last = tf.transpose(given["input"], [1, 0, 2]), []
        for layer in range(L):
            sides = []
            for d in range(D):
                block = layout[layer * D + d]
                first = [given[name][layer * D + d] for name in ("input_h", "input_c") if name in given]
                y, *states = net(rnn_mode, H, block.W[1][1], d, given["params"], block)(x, initial_state=first)
                sides.append(y if d == 0 else tf.reverse(y, [1]))
                last.append(states)
            x = tf.concat(sides, axis=2)
            if dropout_keep is not None and layer < L - 1:
                keep = dropout_keep[layer].transpose(1, 0, 2) * (0 if dropout == 1 else 1 / (1 - float(dropout)))
                x = x * tf.cast(keep, x.dtype)
        outputs = [tf.transpose(x, [1, 0, 2]), *(tf.stack(states) for states in zip(*last))]
    upstream = [tf.constant(value) for value in (output_backprop, output_h_backprop, output_c_backprop) if value is not None]

    def backward():
        gradients = tape.gradient(outputs, list(given.values()), output_gradients=upstream,
                                  unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return {f"{name}_backprop": tf.convert_to_tensor(gradient) for name, gradient in zip(given, gradients)}

    return backward
