# SPDX-License-Identifier: Apache-2.0
"""The two LSTM ops in numpy and float64, written from reference/semantics.md sections 1.3 and 2.3 alone."""

import numpy


def step(i, f, o, ci, co, cs, cs_prev, cs_grad, h_grad, peepholes):
    """Gradients of the pre-activations of one step, of its cs_prev, and of the peepholes."""
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if peepholes:
        dcs = dcs + do * peepholes[2]
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    cs_prev_grad = dcs * f
    if not peepholes:
        zeros = numpy.zeros(i.shape[1])
        return di, dci, df, do, cs_prev_grad, (zeros, zeros, zeros)
    cs_prev_grad = cs_prev_grad + di * peepholes[0] + df * peepholes[1]
    return di, dci, df, do, cs_prev_grad, ((di * cs_prev).sum(0), (df * cs_prev).sum(0), (do * cs).sum(0))


def peepholes_of(t, use_peephole):
    return (t["wci"], t["wcf"], t["wco"]) if use_peephole else ()


def lstm_block_cell_grad(t, use_peephole):
    di, dci, df, do, cs_prev_grad, peephole_grads = step(t["i"], t["f"], t["o"], t["ci"], t["co"], t["cs"],
                                                         t["cs_prev"], t["cs_grad"], t["h_grad"],
                                                         peepholes_of(t, use_peephole))
    wci_grad, wcf_grad, wco_grad = peephole_grads
    return {"cs_prev_grad": cs_prev_grad, "dicfo": numpy.hstack([di, dci, df, do]),
            "wci_grad": wci_grad, "wcf_grad": wcf_grad, "wco_grad": wco_grad}


def block_lstm_grad_v2(t, use_peephole):
    inputs = t["x"].shape[2]
    want = {"x_grad": numpy.zeros(t["x"].shape), "w_grad": numpy.zeros(t["w"].shape),
            "b_grad": numpy.zeros(t["b"].shape)}
    for name in ("wci", "wcf", "wco"):
        want[name + "_grad"] = numpy.zeros(t[name].shape)
    cs_prev_grad, h_prev_grad = numpy.zeros(t["cs_prev"].shape), numpy.zeros(t["h_prev"].shape)
    for s in reversed(range(int(t["seq_len_max"]))):
        cs_prev, h_prev = (t["cs"][s - 1], t["h"][s - 1]) if s > 0 else (t["cs_prev"], t["h_prev"])
        di, dci, df, do, cs_prev_grad, peephole_grads = step(
            t["i"][s], t["f"][s], t["o"][s], t["ci"][s], t["co"][s], t["cs"][s], cs_prev,
            cs_prev_grad + t["cs_grad"][s], h_prev_grad + t["h_grad"][s], peepholes_of(t, use_peephole))
        dg = numpy.hstack([di, df, dci, do])
        dxh = dg @ t["w"].T
        want["x_grad"][s], h_prev_grad = dxh[:, :inputs], dxh[:, inputs:]
        want["w_grad"] += numpy.hstack([t["x"][s], h_prev]).T @ dg
        want["b_grad"] += dg.sum(0)
        for name, gradient in zip(("wci_grad", "wcf_grad", "wco_grad"), peephole_grads):
            want[name] += gradient
    return {**want, "cs_prev_grad": cs_prev_grad, "h_prev_grad": h_prev_grad}


OPS = {"lstm_block_cell_grad": lstm_block_cell_grad, "block_lstm_grad_v2": block_lstm_grad_v2}
