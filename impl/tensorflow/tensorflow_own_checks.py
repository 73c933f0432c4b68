# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own LSTMBlockCellGrad and BlockLSTMGradV2, given malformed calls too, which they should refuse themselves.

    backgauge verify --impl=impl/tensorflow/tensorflow_own_checks.py --python=VENV/bin/python --tier=smoke
"""
from tensorflow_ops import implementations, tf

__version__ = tf.__version__

cell, sequence = implementations(tf.raw_ops.LSTMBlockCellGrad, tf.raw_ops.BlockLSTMGradV2, refuses=True)
