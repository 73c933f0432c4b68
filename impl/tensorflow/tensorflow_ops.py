# SPDX-License-Identifier: Apache-2.0
"""TensorFlow on the CPU, with as many threads as this process may use, and what its adapters have in common: the inputs and claims of
LSTMBlockCellGrad and BlockLSTMGradV2. Copies from and to TensorFlow's tensors are not timed."""
import functools
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import backgauge
import tensorflow as tf

# The pool cannot follow num_threads; OMP_NUM_THREADS is the most that this process may use.
tf.config.threading.set_intra_op_parallelism_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.set_visible_devices([], "GPU")


def cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    return locals()


def sequence(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad, use_peephole):
    return {**locals(), "seq_len_max": tf.constant(seq_len_max, tf.int64)}


def staged(inputs, op):
    """A function that takes what `inputs` takes, and returns one that calls the op with its result."""
    @functools.wraps(inputs)
    def prepare(**arguments):
        given = {name: value if isinstance(value, bool) else tf.constant(value) for name, value in inputs(**arguments).items()}

        def gradient():
            outputs = op(**given)
            return {name: getattr(outputs, name) for name in outputs._fields}

        return gradient

    return prepare


def implementations(cell_op, sequence_op, **claims):
    """The functions of an adapter: LSTMBlockCellGrad and BlockLSTMGradV2. The ops are called as those of tf.raw_ops are."""
    declared = {"dtypes": ["f16", "f32"], "accuracy_class": "B", "staged": True, **claims}
    return (backgauge.implements("LSTMBlockCellGrad", **declared)(staged(cell, cell_op)),
            backgauge.implements("BlockLSTMGradV2", **declared)(staged(sequence, sequence_op)))
