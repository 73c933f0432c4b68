"""CudnnRNNBackprop: the gradient that PyTorch computes on the CPU for torch.nn.LSTM, GRU and RNN."""
import importlib.metadata
import warnings

import numpy as np
from tensors import Filler

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "gru": 3, "lstm": 4}


def draw_params(fill, case, skip):
    """One dictionary per pseudo-layer with W [G*H, in] (None when skipped), R [G*H, H], bW and bR [G*H]."""
    dims = case["dims"]
    L, D, I, H, G = dims["L"], dims["D"], dims["I"], dims["H"], GATES[case["attributes"]["rnn_mode"]]
    layers = []
    for layer in range(L):
        for direction in range(D):
            p, width = f"{layer}.{direction}", I if layer == 0 else D * H
            entry = {"W": None if skip and layer == 0 else fill(f"W{p}", (G * H, width), like="W"),
                     "R": fill(f"R{p}", (G * H, H), like="R"),
                     "bW": fill(f"bW{p}", (G * H,), like="bW"), "bR": fill(f"bR{p}", (G * H,), like="bR")}
            for unit in case.get("dead_units", []):  # pre-activation exactly 0 in every gate of this unit
                for value in entry.values():
                    if value is not None:
                        value.reshape(G, H, -1)[:, unit] = 0
            layers.append(entry)
    return layers


def pack(layers):
    """cuDNN's flat order: the matrices of all pseudo-layers, then the biases of all pseudo-layers."""
    parts = []
    for entry in layers:
        parts += [entry[k].reshape(-1) for k in ("W", "R") if entry[k] is not None]
    for entry in layers:
        parts += [entry["bW"], entry["bR"]]
    return np.concatenate(parts)


NAMES = {"W": "weight_ih", "R": "weight_hh", "bW": "bias_ih", "bR": "bias_hh"}


def torch_stack(torch, mode, in_size, H, L, D, dtype, dropout, layers, G):
    """A torch module over `layers` (one entry per pseudo-layer). A skipped W becomes stacked identities."""
    kind, options = {"lstm": (torch.nn.LSTM, {}), "gru": (torch.nn.GRU, {}),
                     "rnn_tanh": (torch.nn.RNN, {"nonlinearity": "tanh"}),
                     "rnn_relu": (torch.nn.RNN, {"nonlinearity": "relu"})}[mode]
    module = kind(in_size, H, num_layers=L, bidirectional=D == 2, dropout=dropout, **options).to(dtype)
    module.train()
    with torch.no_grad():
        for index, entry in enumerate(layers):
            suffix = f"_l{index // D}" + ("_reverse" if index % D else "")
            for key, name in NAMES.items():
                value = entry[key]
                if value is None:
                    value = np.concatenate([np.eye(H)] * G)
                getattr(module, name + suffix).copy_(torch.from_numpy(np.asarray(value)))
    return module


def torch_grads(module, layers, D, to_numpy):
    found = []
    for index, entry in enumerate(layers):
        suffix = f"_l{index // D}" + ("_reverse" if index % D else "")
        grads = {key: to_numpy(getattr(module, name + suffix).grad) for key, name in NAMES.items()}
        if entry["W"] is None:
            grads["W"] = None
        found.append(grads)
    return found


def cudnn_rnn(case, seed):
    import torch
    warnings.filterwarnings("ignore", message="dropout option adds dropout")
    torch.set_num_threads(1)
    fill, dims = Filler(seed, case), case["dims"]
    T, B, I, H, L, D = (dims[k] for k in ("T", "B", "I", "H", "L", "D"))
    attributes = dict({"input_mode": "linear_input", "dropout": 0.0, "seed": 0, "seed2": 0}, **case["attributes"])
    attributes["direction"] = "bidirectional" if D == 2 else "unidirectional"
    mode, p = attributes["rnn_mode"], attributes["dropout"]
    lstm, G = mode == "lstm", GATES[mode]
    skip = attributes["input_mode"] == "skip_input" or (attributes["input_mode"] == "auto_select" and I == H)
    assert not skip or I == H
    dtype = getattr(torch, case["dtype"])

    def to_torch(value):
        return torch.from_numpy(value).to(dtype)

    def to_numpy(value):
        value = value.detach()
        return (value.float() if dtype is torch.bfloat16 else value).numpy().copy()

    layers = draw_params(fill, case, skip)
    tensors = {"input": fill("input", (T, B, I)), "input_h": fill("input_h", (L * D, B, H))}
    if lstm:
        tensors["input_c"] = fill("input_c", (L * D, B, H))
    tensors["params"] = pack(layers)
    grads = {"output_backprop": fill("output_backprop", (T, B, D * H)),
             "output_h_backprop": fill("output_h_backprop", (L * D, B, H))}
    if lstm:
        grads["output_c_backprop"] = fill("output_c_backprop", (L * D, B, H))

    leaf = {k: to_torch(tensors[k]).clone().requires_grad_() for k in ("input", "input_h", "input_c") if k in tensors}
    masks = {}
    if 0.0 < p < 1.0 and L > 1:
        for gap in range(L - 1):
            keep = fill.stream(f"dropout_mask_{gap}").random((T, B, D * H)) >= p
            masks[f"dropout_mask_{gap}"] = (keep / (1.0 - p)).astype(fill.dtype)
        modules, value, last_h, last_c = [], leaf["input"], [], []
        for layer in range(L):
            rows = slice(layer * D, (layer + 1) * D)
            module = torch_stack(torch, mode, I if layer == 0 else D * H, H, 1, D, dtype, 0.0, layers[rows], G)
            modules.append(module)
            if lstm:
                value, (h, c) = module(value, (leaf["input_h"][rows], leaf["input_c"][rows]))
                last_c.append(c)
            else:
                value, h = module(value, leaf["input_h"][rows])
            last_h.append(h)
            if layer < L - 1:
                value = value * to_torch(masks[f"dropout_mask_{layer}"])
        output, output_h, output_c = value, torch.cat(last_h), torch.cat(last_c) if lstm else None
        method = f"{L} single-layer torch modules, each output multiplied by the stored dropout mask"
    else:
        if p >= 1.0 and L > 1:
            masks = {f"dropout_mask_{gap}": np.zeros((T, B, D * H), fill.dtype) for gap in range(L - 1)}
        modules = [torch_stack(torch, mode, I, H, L, D, dtype, p if L > 1 else 0.0, layers, G)]
        if lstm:
            output, (output_h, output_c) = modules[0](leaf["input"], (leaf["input_h"], leaf["input_c"]))
        else:
            output, output_h = modules[0](leaf["input"], leaf["input_h"])
            output_c = None
        method = f"one torch module with {L} layer(s), training mode" + (f", dropout={p}" if p and L > 1 else "")
    if skip:
        method += "; layer-0 input matrices fixed to identities and left out of params and params_backprop"

    results = [output, output_h] + ([output_c] if lstm else [])
    names = ["output", "output_h"] + (["output_c"] if lstm else [])
    for name, value in zip(names, results):
        tensors[name] = to_numpy(value)
    tensors.update(grads)
    torch.autograd.backward(results, [to_torch(grads[n + "_backprop"]) for n in names])

    outputs = {"input_backprop": to_numpy(leaf["input"].grad), "input_h_backprop": to_numpy(leaf["input_h"].grad)}
    if lstm:
        outputs["input_c_backprop"] = to_numpy(leaf["input_c"].grad)
    if len(modules) == 1:
        outputs["params_backprop"] = pack(torch_grads(modules[0], layers, D, to_numpy))
    else:
        outputs["params_backprop"] = pack([g for layer, m in enumerate(modules)
                                           for g in torch_grads(m, layers[layer * D:(layer + 1) * D], D, to_numpy)])
    module = {"lstm": "torch.nn.LSTM", "gru": "torch.nn.GRU"}.get(mode, f"torch.nn.RNN({mode[4:]})")
    forward = {"op": "CudnnRNN", "attributes": dict(attributes, is_training=True), "outputs": names}
    return tensors, outputs, masks, {
        "attributes": attributes, "forward": forward, "producer": f"torch {importlib.metadata.version('torch')}",
        "method": f"{module} autograd on CPU; {method}", "effective_input_mode": "skip_input" if skip else "linear_input",
        "nan": {}}
