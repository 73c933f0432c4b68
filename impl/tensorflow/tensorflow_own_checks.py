# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's own LSTMBlockCellGrad and BlockLSTMGradV2, given malformed calls too: do they refuse them themselves?

    backgauge verify --impl=impl/tensorflow/tensorflow_own_checks.py --python=VENV/bin/python --tier=smoke
"""
import adapter_tensorflow as eager
import backgauge

__version__ = eager.__version__

cell = backgauge.implements("LSTMBlockCellGrad", dtypes=["f16", "f32"], half_class="B", staged=True, refuses=True)(eager.cell.function)
sequence = backgauge.implements("BlockLSTMGradV2", dtypes=["f16", "f32"], half_class="B", staged=True, refuses=True)(eager.sequence.function)
