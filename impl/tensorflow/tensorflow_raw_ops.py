# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own LSTMBlockCellGrad and BlockLSTMGradV2 on the CPU, called eagerly.

    backgauge verify --impl=impl/tensorflow/tensorflow_raw_ops.py --python=VENV/bin/python
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

import backgauge  # noqa: E402

__version__ = tf.__version__
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.set_visible_devices([], "GPU")


def outputs_of(op, arguments):
    outputs = op(**{name: value if isinstance(value, bool) else tf.constant(value) for name, value in arguments.items()})
    return {name: getattr(outputs, name) for name in outputs._fields}


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f16", "f32"], half_class="B")
def cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    return outputs_of(tf.raw_ops.LSTMBlockCellGrad, locals())


@backgauge.implements("BlockLSTMGradV2", dtypes=["f16", "f32"], half_class="B")
def sequence(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad, use_peephole):
    return outputs_of(tf.raw_ops.BlockLSTMGradV2, {**locals(), "seq_len_max": tf.constant(seq_len_max, tf.int64)})
