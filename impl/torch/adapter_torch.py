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

__version__ = torch.__version__

NETS = {"rnn_relu": (torch.nn.RNN, {"nonlinearity": "relu"}), "rnn_tanh": (torch.nn.RNN, {"nonlinearity": "tanh"}),
        "lstm": (torch.nn.LSTM, {}), "gru": (torch.nn.GRU, {})}


def tensor(array):
    """A copy; NumPy's bfloat16 is a type that PyTorch cannot read."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def leaf(array):
    return tensor(array).requires_grad_()


def array(tensor):
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def backward(outputs, leaves, upstream):
    """What is timed. The graph is kept: in training it is freed while the next forward is made."""
    return lambda: [array(gradient) for gradient in
                    torch.autograd.grad(outputs, leaves, upstream, retain_graph=True, materialize_grads=True)]


def weights_of(params, net, layers):
    """The parameters of each layer, by PyTorch's names, in the order of params: all matrices, then all biases."""
    at, out = 0, [{} for _ in range(layers)]
    for kind in ("weight", "bias"):
        for layer in range(layers):
            for name, parameter in net(layer).named_parameters():
                if name.startswith(kind):
                    out[layer][name] = leaf(params[at:at + parameter.numel()].reshape(parameter.shape))
                    at += parameter.numel()
    return out


@backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32", "f64"], accuracy_class="B", determinism="not_deterministic",
                      input_modes=["linear_input"], staged=True)
def rnn(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, rnn_mode, direction, dropout,
        dropout_keep, num_threads):
    torch.set_num_threads(num_threads)
    kind, options = NETS[rnn_mode]
    D = 2 if direction == "bidirectional" else 1
    H, L = input_h.shape[2], input_h.shape[0] // D

    def net(layer):  # its shapes alone; its parameters are those of the call
        return kind(input.shape[2] if layer == 0 else D * H, H, bidirectional=D == 2, device="meta", **options)

    # The initial states of each layer are leaf tensors, like the weights, so slicing and concatenating them is not timed.
    given, first = leaf(input), [[leaf(of) for of in np.split(value, L)] for value in (input_h, input_c) if value is not None]
    x, last, weights = given, [], weights_of(params, net, L)
    for layer in range(L):
        states = tuple(of[layer] for of in first)
        x, state = torch.func.functional_call(net(layer), weights[layer], (x, states if len(states) == 2 else states[0]))
        last.append(state if len(states) == 2 else (state,))
        if dropout_keep is not None and layer < L - 1:
            scale = 0 if dropout == 1 else 1 / (1 - float(dropout))
            x = x * (tensor(dropout_keep[layer]).to(x.dtype) * scale)
    outputs = [x, *(state for states in zip(*last) for state in states)]
    upstream = [tensor(output_backprop), *(tensor(of) for value in (output_h_backprop, output_c_backprop) if value is not None
                                           for of in np.split(value, L))]
    parameters = [layer[name] for kind in ("weight", "bias") for layer in weights for name in layer if name.startswith(kind)]
    leaves = [given, *(of for states in first for of in states), *parameters]

    def outputs_of_the_op(gradients):
        of_input, *others = gradients
        of_states = {f"{name}_backprop": np.concatenate(others[k * L:(k + 1) * L]) for k, name in zip(range(len(first)), ("input_h", "input_c"))}
        flat = [gradient.ravel() for gradient in others[len(first) * L:]]
        return {"input_backprop": of_input, **of_states, "params_backprop": np.concatenate(flat)}

    return backward(outputs, leaves, upstream), outputs_of_the_op


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

    return backward([output, last_cs], [*given, *weights.values()], [tensor(h_grad[:S]), tensor(cs_grad[S - 1:S])]), outputs_of_the_op
