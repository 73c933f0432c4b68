# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad in Triton, interpreted on the CPU.

    backgauge verify --impl=triton --tier=smoke
"""
import os
import threading

os.environ["TRITON_INTERPRET"] = "1"
import backgauge
import torch
import triton
from triton_cell import launch

__version__ = triton.__version__
ROWS = 1024  # of the batch, at once: each operation costs the interpreter about as much for one row as for many
INTERPRETER = threading.Lock()  # while it runs, the interpreter replaces functions of triton.language


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f16", "f32"])
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    inputs = [torch.from_numpy(value.copy()) for value in (cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad)]
    with INTERPRETER:
        return [value.numpy() for value in launch(inputs, ROWS)(use_peephole)]
