# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own LSTMBlockCellGrad and BlockLSTMGradV2 on the CPU, inside a tf.function, which TensorFlow optimizes as a graph.

    backgauge verify --impl=tensorflow-function
"""
from tensorflow_ops import implementations, tf

__version__ = tf.__version__
tf.get_logger().setLevel("ERROR")  # it warns of each new graph


def in_a_graph(op):
    """One graph for all shapes of a dtype: a graph per shape would be traced again in every case."""
    graph = tf.function(lambda use_peephole, tensors: op(**tensors, use_peephole=use_peephole), reduce_retracing=True)
    return lambda use_peephole, **tensors: graph(use_peephole, tensors)


cell, sequence = implementations(in_a_graph(tf.raw_ops.LSTMBlockCellGrad), in_a_graph(tf.raw_ops.BlockLSTMGradV2))
