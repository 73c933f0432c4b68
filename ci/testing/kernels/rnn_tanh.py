# SPDX-License-Identifier: Apache-2.0
"""CudnnRNNBackprop of rnn_tanh in NumPy, with dropout; the training forward is that of `cpu`. Both directions of a layer read the one
below through one mask, or with BACKGAUGE_TEST_MASKS_PER_DIRECTION each through its own."""
import os

import backgauge
import numpy as np


def layers_of(params, I, H, L, D):
    """W, R and the sum of the biases of each direction of each layer."""
    at, weights = 0, []
    for width in [I] * D + [D * H] * (D * (L - 1)):
        weights.append([params[at:at + H * width].reshape(H, width), params[at + H * width:at + H * (width + H)].reshape(H, H)])
        at += H * (width + H)
    biases = params[at:].reshape(D * L, 2, H).sum(1)
    return [(W, R, b) for (W, R), b in zip(weights, biases)]


@backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32"], rnn_modes=["rnn_tanh"], input_modes=["linear_input"],
                      masks_per_direction=bool(os.environ.get("BACKGAUGE_TEST_MASKS_PER_DIRECTION")))
def rnn_tanh(input, input_h, input_c, params, output_backprop, output_h_backprop, direction, dropout, dropout_keep):
    assert input_c is None
    D = 2 if direction == "bidirectional" else 1
    (T, B, I), (L, _, H) = input.shape, input_h.shape
    L //= D
    wide = (np.asarray(v, np.float64) for v in (input, input_h, params, output_backprop, output_h_backprop))
    input, input_h, params, dy, dh_last = wide
    layers = layers_of(params, I, H, L, D)
    masks = np.ones((D * (L - 1), 1, 1, 1)) if dropout_keep is None else dropout_keep / max(1 - float(dropout), 1e-300)
    masks = masks.repeat(D * (L - 1) // max(len(masks), 1), 0)  # in each gap one for each direction
    times = [range(T), range(T - 1, -1, -1)]  # in reading order

    inputs, states, below = [], [], input
    for layer in range(L):
        inputs.append([below * (masks[(layer - 1) * D + d] if layer else 1) for d in range(D)])
        outputs, states_of_layer = np.zeros((T, B, D * H)), []
        for d in range(D):
            W, R, b = layers[layer * D + d]
            h = [input_h[layer * D + d]]
            for t in times[d]:
                h.append(np.tanh(inputs[layer][d][t] @ W.T + h[-1] @ R.T + b))
                outputs[t, :, d * H:(d + 1) * H] = h[-1]
            states_of_layer.append(h)
        states.append(states_of_layer)
        below = outputs

    weights, biases, input_h_backprop = [], [], np.zeros_like(input_h)
    for layer in reversed(range(L)):
        below = np.zeros_like(inputs[layer][0])
        for d in reversed(range(D)):
            W, R, _ = layers[layer * D + d]
            h, x = states[layer][d], inputs[layer][d]
            dW, dR, db, dx, dh = np.zeros_like(W), np.zeros_like(R), np.zeros(H), np.zeros_like(x), dh_last[layer * D + d]
            for step, t in reversed(list(enumerate(times[d]))):
                da = (dh + dy[t, :, d * H:(d + 1) * H]) * (1 - h[step + 1] ** 2)
                dW, dR, db = dW + da.T @ x[t], dR + da.T @ h[step], db + da.sum(0)
                dx[t], dh = da @ W, da @ R
            input_h_backprop[layer * D + d] = dh
            weights = [dW.ravel(), dR.ravel()] + weights
            biases = [db, db] + biases
            below += dx * (masks[(layer - 1) * D + d] if layer else 1)
        dy = below
    return {"input_backprop": dy, "input_h_backprop": input_h_backprop, "params_backprop": np.concatenate(weights + biases)}
