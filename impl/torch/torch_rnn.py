# SPDX-License-Identifier: Apache-2.0
"""What the adapters of PyTorch share: CudnnRNNBackprop by nn.LSTM, nn.GRU and nn.RNN on a device, its backward by autograd."""
import numpy as np
import torch

NETS = {"rnn_relu": (torch.nn.RNN, {"nonlinearity": "relu"}), "rnn_tanh": (torch.nn.RNN, {"nonlinearity": "tanh"}),
        "lstm": (torch.nn.LSTM, {}), "gru": (torch.nn.GRU, {})}


def need_device():
    """Raises RuntimeError where the adapters of a CUDA device cannot work."""
    if not torch.cuda.is_available():
        raise RuntimeError("no CUDA device")


def tensor(array, device="cpu"):
    """A copy; NumPy's bfloat16 is a type that PyTorch cannot read."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16).to(device)
    return torch.from_numpy(array.copy()).to(device)


def leaf(array, device="cpu"):
    return tensor(array, device).requires_grad_()


def array(tensor):
    tensor = tensor.cpu()
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def backward(device, outputs, leaves, upstream, outputs_of_the_op):
    """What a staged function returns. The graph is kept: in training it is freed while the next forward is made. On a device its own
    work is timed, until it is done, and not the copies of its results to the host."""
    def gradients():
        return torch.autograd.grad(outputs, leaves, upstream, retain_graph=True, materialize_grads=True)

    if device == "cpu":
        return lambda: [array(each) for each in gradients()], outputs_of_the_op
    found = []

    def on_device():
        found[:] = gradients()
        torch.cuda.synchronize()

    torch.cuda.synchronize()  # the forward is done
    return on_device, lambda _: outputs_of_the_op([array(each) for each in found])


def weights_of(params, net, layers, device):
    """The parameters of each layer, by PyTorch's names, in the order of params: all matrices, then all biases."""
    at, out = 0, [{} for _ in range(layers)]
    for kind in ("weight", "bias"):
        for layer in range(layers):
            for name, parameter in net(layer).named_parameters():
                if name.startswith(kind):
                    out[layer][name] = leaf(params[at:at + parameter.numel()].reshape(parameter.shape), device)
                    at += parameter.numel()
    return out


def rnn_on(device):
    """The function of CudnnRNNBackprop, staged, on "cpu" or "cuda"."""
    def rnn(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, rnn_mode, direction, dropout,
            dropout_keep, num_threads):
        torch.set_num_threads(num_threads)
        kind, options = NETS[rnn_mode]
        D = 2 if direction == "bidirectional" else 1
        H, L = input_h.shape[2], input_h.shape[0] // D

        def net(layer):  # its shapes alone; its parameters are those of the call
            return kind(input.shape[2] if layer == 0 else D * H, H, bidirectional=D == 2, device="meta", **options)

        # The initial states of each layer are leaf tensors, like the weights, so slicing and concatenating them is not timed.
        given = leaf(input, device)
        first = [[leaf(of, device) for of in np.split(value, L)] for value in (input_h, input_c) if value is not None]
        x, last, weights = given, [], weights_of(params, net, L, device)
        for layer in range(L):
            states = tuple(of[layer] for of in first)
            x, state = torch.func.functional_call(net(layer), weights[layer], (x, states if len(states) == 2 else states[0]))
            last.append(state if len(states) == 2 else (state,))
            if dropout_keep is not None and layer < L - 1:
                scale = 0 if dropout == 1 else 1 / (1 - float(dropout))
                x = x * (tensor(dropout_keep[layer], device).to(x.dtype) * scale)
        outputs = [x, *(state for states in zip(*last) for state in states)]
        upstream = [tensor(output_backprop, device), *(tensor(of, device) for value in (output_h_backprop, output_c_backprop)
                                                       if value is not None for of in np.split(value, L))]
        parameters = [layer[name] for kind in ("weight", "bias") for layer in weights for name in layer if name.startswith(kind)]
        leaves = [given, *(of for states in first for of in states), *parameters]

        def outputs_of_the_op(gradients):
            of_input, *others = gradients
            of_states = {f"{name}_backprop": np.concatenate(others[k * L:(k + 1) * L]) for k, name in zip(range(len(first)), ("input_h", "input_c"))}
            flat = [gradient.ravel() for gradient in others[len(first) * L:]]
            return {"input_backprop": of_input, **of_states, "params_backprop": np.concatenate(flat)}

        return backward(device, outputs, leaves, upstream, outputs_of_the_op)

    return rnn
