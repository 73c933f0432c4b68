# SPDX-License-Identifier: Apache-2.0
"""PyTorch's nn.LSTM, nn.GRU and nn.RNN on the CPU: forward, and backward by autograd.

    backgauge verify --impl=impl/torch/torch_nn.py --python=VENV/bin/python
"""
import numpy as np
import torch

import backgauge

__version__ = torch.__version__

NETS = {"rnn_relu": (torch.nn.RNN, {"nonlinearity": "relu"}), "rnn_tanh": (torch.nn.RNN, {"nonlinearity": "tanh"}),
        "lstm": (torch.nn.LSTM, {}), "gru": (torch.nn.GRU, {})}


def tensor(array):
    """A copy; NumPy's bfloat16 is a type that PyTorch cannot read."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def array(tensor):
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def views(params, net, layers):
    """The parameters of each layer, by PyTorch's names, as views of params: all matrices, then all biases."""
    at, out = 0, [{} for _ in range(layers)]
    for kind in ("weight", "bias"):
        for layer in range(layers):
            for name, parameter in net(layer).named_parameters():
                if name.startswith(kind):
                    out[layer][name] = params[at:at + parameter.numel()].view(parameter.shape)
                    at += parameter.numel()
    return out


@backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32", "f64"], half_class="B", determinism="not_deterministic",
                      input_modes=["linear_input"])
def rnn(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, rnn_mode, direction, dropout,
        dropout_keep, num_threads):
    torch.set_num_threads(num_threads)
    kind, options = NETS[rnn_mode]
    D = 2 if direction == "bidirectional" else 1
    H, L = input_h.shape[2], input_h.shape[0] // D

    def net(layer):  # its shapes alone; its parameters are those of the call
        return kind(input.shape[2] if layer == 0 else D * H, H, bidirectional=D == 2, device="meta", **options)

    given = {"input": input, "input_h": input_h, "input_c": input_c, "params": params}
    leaves = {name: tensor(value).requires_grad_() for name, value in given.items() if value is not None}
    x, last = leaves["input"], []
    for layer, weights in enumerate(views(leaves["params"], net, L)):
        states = tuple(leaves[name][layer * D:(layer + 1) * D] for name in ("input_h", "input_c") if name in leaves)
        x, state = torch.func.functional_call(net(layer), weights, (x, states if len(states) == 2 else states[0]))
        last.append(state if len(states) == 2 else (state,))
        if dropout_keep is not None and layer < L - 1:
            scale = 0 if dropout == 1 else 1 / (1 - float(dropout))
            x = x * (tensor(dropout_keep[layer]).to(x.dtype) * scale)
    outputs = [x, *(torch.cat(states) for states in zip(*last))]
    upstream = [tensor(value) for value in (output_backprop, output_h_backprop, output_c_backprop) if value is not None]
    gradients = torch.autograd.grad(outputs, list(leaves.values()), upstream, materialize_grads=True)
    return {f"{name}_backprop": array(gradient) for name, gradient in zip(leaves, gradients)}
