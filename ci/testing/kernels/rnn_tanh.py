# SPDX-License-Identifier: Apache-2.0
"""CudnnRNNBackprop of rnn_tanh in NumPy, with dropout; the training forward is that of `cpu`."""
import backgauge
import numpy as np


def layers_of(params, I, H, L):
    """W, R and the sum of the biases of each layer."""
    at, weights = 0, []
    for width in [I] + [H] * (L - 1):
        weights.append([params[at:at + H * width].reshape(H, width), params[at + H * width:at + H * (width + H)].reshape(H, H)])
        at += H * (width + H)
    biases = params[at:].reshape(L, 2, H).sum(1)
    return [(W, R, b) for (W, R), b in zip(weights, biases)]


@backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32"], rnn_modes=["rnn_tanh"], input_modes=["linear_input"],
                      directions=["unidirectional"])
def rnn_tanh(input, input_h, input_c, params, output_backprop, output_h_backprop, dropout, dropout_keep):
    assert input_c is None
    (T, B, I), (L, _, H) = input.shape, input_h.shape
    wide = (np.asarray(v, np.float64) for v in (input, input_h, params, output_backprop, output_h_backprop))
    input, input_h, params, dy, dh_last = wide
    layers = layers_of(params, I, H, L)
    masks = [1.0] * L if dropout_keep is None else [keep / max(1 - float(dropout), 1e-300) for keep in dropout_keep]

    inputs, states = [input], []
    for layer, (W, R, b) in enumerate(layers):
        h = [input_h[layer]]
        for t in range(T):
            h.append(np.tanh(inputs[layer][t] @ W.T + h[-1] @ R.T + b))
        states.append(h)
        if layer + 1 < L:
            inputs.append(np.array(h[1:]).reshape(T, B, H) * masks[layer])

    weights, biases, input_h_backprop = [], [], np.zeros_like(input_h)
    for layer in reversed(range(L)):
        W, R, _ = layers[layer]
        dW, dR, db, dx, dh = np.zeros_like(W), np.zeros_like(R), np.zeros(H), np.zeros_like(inputs[layer]), dh_last[layer]
        for t in reversed(range(T)):
            da = (dh + dy[t]) * (1 - states[layer][t + 1] ** 2)
            dW, dR, db = dW + da.T @ inputs[layer][t], dR + da.T @ states[layer][t], db + da.sum(0)
            dx[t], dh = da @ W, da @ R
        input_h_backprop[layer] = dh
        weights = [dW.ravel(), dR.ravel()] + weights
        biases = [db, db] + biases
        dy = dx if layer == 0 else dx * masks[layer - 1]
    return {"input_backprop": dy, "input_h_backprop": input_h_backprop, "params_backprop": np.concatenate(weights + biases)}
