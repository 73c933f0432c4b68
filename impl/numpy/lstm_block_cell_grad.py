# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad in NumPy: the example of an implementation in Python.

    backgauge verify --impl=impl/numpy/lstm_block_cell_grad.py
"""
import backgauge
import numpy as np


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f16", "f32"])
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    dtype = cs_prev.dtype
    wide = (v.astype(np.float32) for v in (cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad))
    cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad = wide

    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs += do * wco
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    cs_prev_grad = dcs * f
    peephole_grads = np.zeros((3, cs.shape[1]), np.float32)
    if use_peephole:
        cs_prev_grad += di * wci + df * wcf
        peephole_grads = np.stack([(di * cs_prev).sum(0), (df * cs_prev).sum(0), (do * cs).sum(0)])

    results = (cs_prev_grad, np.concatenate([di, dci, df, do], axis=1), *peephole_grads)
    return [value.astype(dtype) for value in results]
