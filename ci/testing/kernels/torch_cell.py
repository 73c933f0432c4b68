# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad in tensors of PyTorch, right, and the faults that BACKGAUGE_TEST_KERNEL puts into it."""
import ctypes
import os

import backgauge
import torch

torch.set_num_threads(1)
WRONG = os.environ.get("BACKGAUGE_TEST_KERNEL", "")


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"], arrays="torch")
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole, out):
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs = dcs + do * wco
    dci, df, di = (1 - ci * ci) * dcs * i, f * (1 - f) * dcs * cs_prev, i * (1 - i) * dcs * ci
    cs_prev_grad = dcs * f
    if use_peephole:
        cs_prev_grad = cs_prev_grad + di * wci + df * wcf
    sums = [(gate * state).sum(0) if use_peephole else torch.zeros_like(wci) for gate, state in ((di, cs_prev), (df, cs_prev), (do, cs))]
    results = dict(zip(out, [cs_prev_grad, torch.cat([di, dci, df, do], 1), *sums]))
    if WRONG == "factor":
        results["cs_prev_grad"] *= 1.001
    if WRONG == "writes its input":
        h_grad.zero_()
    if WRONG == "returns another dtype":
        results["dicfo"] = results["dicfo"].double()
    if WRONG == "returns a tensor without memory":
        results["dicfo"] = results["dicfo"].to("meta")
    if WRONG == "writes past the end":
        ctypes.c_float.from_address(out["dicfo"].data_ptr() + 4 * out["dicfo"].numel()).value = 1
    if WRONG == "fills its outputs":
        for name, tensor in results.items():
            out[name].copy_(tensor)
        return None
    return results
