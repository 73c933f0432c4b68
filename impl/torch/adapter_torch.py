# SPDX-License-Identifier: Apache-2.0
"""PyTorch's nn.LSTM, nn.GRU and nn.RNN on the CPU: the backward by autograd.

    backgauge verify --impl=torch
    backgauge bench --impl=cpu,torch

The forward is not timed, nor are conversions of layouts: PyTorch has weights, and their gradients, as tensors of their own.
BlockLSTMGradV2 is computed for data=training only, because PyTorch takes no saved tensors but those of its own forward.
"""
import backgauge
import numpy as np
import torch
from torch_rnn import backward, leaf, rnn_on, tensor

__version__ = torch.__version__

rnn = backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32", "f64"], accuracy_class="B", determinism="not_deterministic",
                           input_modes=["linear_input"], staged=True)(rnn_on("cpu"))


@backgauge.implements("BlockLSTMGradV2", dtypes=["f32"], use_peephole=[False], determinism="not_deterministic",
                      recomputes_forward=True, staged=True)
def sequence(seq_len_max, x, cs_prev, h_prev, w, wci, b, cs_grad, h_grad, num_threads):
    torch.set_num_threads(num_threads)
    S, I, H = seq_len_max, x.shape[2], cs_prev.shape[1]
    weights = {"weight_ih_l0": leaf(w[:I].T), "weight_hh_l0": leaf(w[I:].T), "bias_ih_l0": leaf(b), "bias_hh_l0": leaf(0 * b)}
    given = [leaf(x[:S]), leaf(h_prev[None]), leaf(cs_prev[None])]
    output, (_, last_cs) = torch.func.functional_call(torch.nn.LSTM(I, H, device="meta"), weights, (given[0], tuple(given[1:])))

    def outputs_of_the_op(gradients):
        x_grad = np.zeros_like(x)
        x_grad[:S] = gradients[0]
        none = np.zeros_like(wci)
        return {"x_grad": x_grad, "h_prev_grad": gradients[1][0], "cs_prev_grad": gradients[2][0],
                "w_grad": np.concatenate([gradients[3].T, gradients[4].T]), "b_grad": gradients[5],
                "wci_grad": none, "wcf_grad": none, "wco_grad": none}

    return backward("cpu", [output, last_cs], [*given, *weights.values()], [tensor(h_grad[:S]), tensor(cs_grad[S - 1:S])], outputs_of_the_op)
