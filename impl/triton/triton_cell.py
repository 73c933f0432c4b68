# SPDX-License-Identifier: Apache-2.0
"""What the adapters of Triton share: the kernel of LSTMBlockCellGrad. TRITON_INTERPRET is set before, where it is interpreted."""
import torch
import triton
import triton.language as tl

COLUMNS = 64  # of H, by one program


@triton.jit
def cell_kernel(cs_prev_p, wci_p, wcf_p, wco_p, i_p, cs_p, f_p, o_p, ci_p, co_p, cs_grad_p, h_grad_p,
                cs_prev_grad_p, dicfo_p, wci_grad_p, wcf_grad_p, wco_grad_p, B, H,
                PEEPHOLE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """All rows of N columns, M rows at a time, so that the sums over the batch need no atomics."""
    column = tl.program_id(0) * N + tl.arange(0, N)
    used = column < H
    wci_grad, wcf_grad, wco_grad = tl.zeros([N], tl.float32), tl.zeros([N], tl.float32), tl.zeros([N], tl.float32)
    if PEEPHOLE:
        wci = tl.load(wci_p + column, used, 0).to(tl.float32)[None, :]
        wcf = tl.load(wcf_p + column, used, 0).to(tl.float32)[None, :]
        wco = tl.load(wco_p + column, used, 0).to(tl.float32)[None, :]
    for first in range(0, B, M):
        row = first + tl.arange(0, M)
        inside = (row < B)[:, None] & used[None, :]
        at = row[:, None] * H + column[None, :]
        cs_prev, cs = tl.load(cs_prev_p + at, inside, 0).to(tl.float32), tl.load(cs_p + at, inside, 0).to(tl.float32)
        i, f = tl.load(i_p + at, inside, 0).to(tl.float32), tl.load(f_p + at, inside, 0).to(tl.float32)
        o, ci = tl.load(o_p + at, inside, 0).to(tl.float32), tl.load(ci_p + at, inside, 0).to(tl.float32)
        co, h_grad = tl.load(co_p + at, inside, 0).to(tl.float32), tl.load(h_grad_p + at, inside, 0).to(tl.float32)
        do = o * (1 - o) * h_grad * co
        dcs = (1 - co * co) * h_grad * o + tl.load(cs_grad_p + at, inside, 0).to(tl.float32)
        if PEEPHOLE:
            dcs += do * wco
        dci, df, di = (1 - ci * ci) * dcs * i, f * (1 - f) * dcs * cs_prev, i * (1 - i) * dcs * ci
        cs_prev_grad = dcs * f
        if PEEPHOLE:
            cs_prev_grad += di * wci + df * wcf
            wci_grad += tl.sum(di * cs_prev, 0)
            wcf_grad += tl.sum(df * cs_prev, 0)
            wco_grad += tl.sum(do * cs, 0)
        tl.store(cs_prev_grad_p + at, cs_prev_grad, inside)
        gates = dicfo_p + row[:, None] * 4 * H + column[None, :]
        tl.store(gates, di, inside)
        tl.store(gates + H, dci, inside)
        tl.store(gates + 2 * H, df, inside)
        tl.store(gates + 3 * H, do, inside)
    tl.store(wci_grad_p + column, wci_grad, used)
    tl.store(wcf_grad_p + column, wcf_grad, used)
    tl.store(wco_grad_p + column, wco_grad, used)


def launch(inputs, rows):
    """The outputs of LSTMBlockCellGrad, where its inputs are, as a function of use_peephole; rows: of the batch, at once."""
    B, H = inputs[0].shape
    outputs = [torch.empty(shape, dtype=inputs[0].dtype, device=inputs[0].device) for shape in ((B, H), (B, 4 * H), (H,), (H,), (H,))]
    rows = min(rows, triton.next_power_of_2(max(B, 1)))

    def run(use_peephole):
        cell_kernel[(triton.cdiv(H, COLUMNS),)](*inputs, *outputs, B, H, PEEPHOLE=use_peephole, M=rows, N=COLUMNS)
        return outputs

    return run
