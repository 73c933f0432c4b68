# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own LSTMBlockCellGrad and BlockLSTMGradV2 on the CPU, inside a tf.function, which TensorFlow optimizes as a graph.

    backgauge verify --impl=tensorflow-function

Copies from and to TensorFlow's tensors are not timed.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import backgauge
import tensorflow as tf

__version__ = tf.__version__
# The pool cannot follow num_threads; OMP_NUM_THREADS is the most that this process may use.
tf.config.threading.set_intra_op_parallelism_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.set_visible_devices([], "GPU")
tf.get_logger().setLevel("ERROR")  # it warns of each new graph


def graph_of(op):
    """One graph for all shapes of a dtype: a graph per shape would be traced again in every case."""
    return tf.function(lambda use_peephole, tensors: op(**tensors, use_peephole=use_peephole), reduce_retracing=True)


CELL, SEQUENCE = graph_of(tf.raw_ops.LSTMBlockCellGrad), graph_of(tf.raw_ops.BlockLSTMGradV2)


def gradient_of(graph, arguments):
    use_peephole = arguments.pop("use_peephole")
    given = {name: tf.constant(value) for name, value in arguments.items()}

    def gradient():
        outputs = graph(use_peephole, given)
        return {name: getattr(outputs, name) for name in outputs._fields}

    return gradient


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f16", "f32"], half_class="B", staged=True)
def cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    return gradient_of(CELL, locals())


@backgauge.implements("BlockLSTMGradV2", dtypes=["f16", "f32"], half_class="B", staged=True)
def sequence(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad, use_peephole):
    return gradient_of(SEQUENCE, {**locals(), "seq_len_max": tf.constant(seq_len_max, tf.int64)})
