# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own LSTMBlockCellGrad and BlockLSTMGradV2 on the CPU, called eagerly.

    backgauge verify --impl=tensorflow
    backgauge bench --impl=cpu,tensorflow
"""
from tensorflow_ops import implementations, tf

__version__ = tf.__version__

cell, sequence = implementations(tf.raw_ops.LSTMBlockCellGrad, tf.raw_ops.BlockLSTMGradV2)
