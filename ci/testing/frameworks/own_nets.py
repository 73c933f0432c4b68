#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the judge proves something about nets as PyTorch initialises them, without any declaration.

    BACKGAUGE_COMMAND=build/release/ci/backgauge ci/testing/frameworks/own_nets.py [--sizes=N] [--dtypes=f32,f16] [--torch]

For each of 17 sizes, four modes and three dtypes, `backgauge oracle --inputs` makes the expected outputs, and `backgauge judge` gets right
outputs, zeros, and right ones times 1.01 in one tensor. The right ones are those of float32 loops in NumPy, rounded once (class A); with
--torch, those of PyTorch, whose weights are the net's then. It prints a table, and ends with 1 unless all right ones PASSED and all
others FAILED."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "gru": 3, "lstm": 4}
# T, B, I, H: steps of 10 to 100, widths of 16 to 128, and what lies between.
SIZES = [(10, 8, 8, 16), (10, 32, 16, 32), (16, 4, 24, 64), (20, 8, 16, 16), (20, 16, 64, 128), (25, 32, 10, 32), (30, 8, 32, 48),
         (32, 16, 16, 64), (40, 4, 40, 100), (50, 8, 8, 16), (50, 16, 32, 32), (50, 8, 64, 128), (64, 4, 20, 64), (75, 8, 28, 28),
         (100, 8, 16, 16), (100, 4, 32, 64), (100, 8, 64, 128)]
EXPECTED = {"right": "PASSED", "zeros": "FAILED", "1 % off": "FAILED"}


def drawn(mode, sizes, seed):
    """The inputs in float32: weights uniform in +-1/sqrt(H), as PyTorch's; no initial state, gradients of the outputs alone."""
    T, B, I, H = sizes
    draw, f32 = np.random.default_rng(seed), np.float32
    inputs = {"input": draw.normal(size=(T, B, I)), "input_h": np.zeros((1, B, H)),
              "params": draw.uniform(-1, 1, GATES[mode] * H * (I + H + 2)) / np.sqrt(H),
              "output_backprop": draw.normal(size=(T, B, H)), "output_h_backprop": np.zeros((1, B, H))}
    if mode == "lstm":
        inputs.update(input_c=np.zeros((1, B, H)), output_c_backprop=np.zeros((1, B, H)))
    return {name: value.astype(f32) for name, value in inputs.items()}


def rounded(values, dtype):
    """To a dtype, as float32."""
    if dtype == "f16":
        return values.astype(np.float16).astype(np.float32)
    if dtype == "bf16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).view(np.float32)
    return values


def stored(values, dtype):
    """What .npy files hold."""
    if dtype == "bf16":
        return (rounded(values, dtype).view(np.uint32) >> 16).astype(np.uint16).view("V2")
    return values.astype({"f16": np.float16, "f32": np.float32}[dtype])


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def gradients(mode, inputs):
    """Of one layer, in the precision of the inputs: reference/semantics.md 3."""
    x, params, dy = inputs["input"], inputs["params"], inputs["output_backprop"]
    (T, B, I), H = x.shape, dy.shape[2]
    rows = GATES[mode] * H
    W, R, bW, bR = np.split(params, [rows * I, rows * (I + H), rows * (I + H + 1)])
    W, R = W.reshape(rows, I), R.reshape(rows, H)
    h, c, steps = inputs["input_h"][0], np.zeros((B, H), x.dtype), []
    for t in range(T):
        of_x, of_h = x[t] @ W.T + bW, h @ R.T + bR
        if mode == "gru":
            r, z = sigmoid(of_x[:, :2 * H] + of_h[:, :2 * H]).reshape(B, 2, H).swapaxes(0, 1)
            n = np.tanh(of_x[:, 2 * H:] + r * of_h[:, 2 * H:])
            steps.append((h, r, z, n, of_h[:, 2 * H:]))
            h = (1 - z) * n + z * h
        elif mode == "lstm":
            i, f, g, o = (of_x + of_h).reshape(B, 4, H).swapaxes(0, 1)
            i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
            before, c = c, f * c + i * g
            steps.append((h, i, f, g, o, before, np.tanh(c)))
            h = o * steps[-1][-1]
        else:
            a = of_x + of_h
            before, h = h, np.tanh(a) if mode == "rnn_tanh" else np.maximum(a, 0)
            steps.append((before, 1 - h * h if mode == "rnn_tanh" else (a > 0).astype(a.dtype)))
    dW, dR, dbW, dbR, dx = np.zeros_like(W), np.zeros_like(R), np.zeros_like(bW), np.zeros_like(bR), np.zeros_like(x)
    dh, dc = inputs["output_h_backprop"][0], np.zeros((B, H), x.dtype)
    for t in reversed(range(T)):
        dh = dh + dy[t]
        h, *saved = steps[t]
        kept = 0
        if mode == "gru":
            r, z, n, of_n = saved
            dn = dh * (1 - z) * (1 - n * n)
            dz, dr, kept = dh * (h - n) * z * (1 - z), dn * of_n * r * (1 - r), dh * z
            of_x, of_h = np.concatenate([dr, dz, dn], 1), np.concatenate([dr, dz, dn * r], 1)
        elif mode == "lstm":
            i, f, g, o, before, co = saved
            dc = dc + dh * o * (1 - co * co)
            of_x = of_h = np.concatenate([dc * g * i * (1 - i), dc * before * f * (1 - f), dc * i * (1 - g * g), dh * co * o * (1 - o)], 1)
            dc = dc * f
        else:
            of_x = of_h = dh * saved[0]
        dW, dR, dbW, dbR = dW + of_x.T @ x[t], dR + of_h.T @ h, dbW + of_x.sum(0), dbR + of_h.sum(0)
        dx[t], dh = of_x @ W, of_h @ R + kept
    out = {"input_backprop": dx, "input_h_backprop": dh[None], "params_backprop": np.concatenate([dW.ravel(), dR.ravel(), dbW, dbR])}
    return {**out, "input_c_backprop": dc[None]} if mode == "lstm" else out


def of_torch(mode, sizes, seed):
    """(inputs, gradients) of a net of PyTorch, in float32."""
    import torch
    torch.manual_seed(seed)
    _, B, I, H = sizes
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(mode, torch.nn.RNN)
    net = kind(I, H, **({"nonlinearity": mode[4:]} if kind is torch.nn.RNN else {}))
    inputs = drawn(mode, sizes, seed)
    inputs["params"] = torch.cat([each.detach().ravel() for each in net.parameters()]).numpy()
    x, h, c = (torch.tensor(inputs.get(name, 0), requires_grad=name in inputs) for name in ("input", "input_h", "input_c"))
    y, _ = net(x, (h, c) if mode == "lstm" else h)
    y.backward(torch.tensor(inputs["output_backprop"]))
    out = {"input_backprop": x.grad, "input_h_backprop": h.grad, "params_backprop": torch.cat([each.grad.ravel() for each in net.parameters()])}
    if mode == "lstm":
        out["input_c_backprop"] = c.grad
    return inputs, {name: value.numpy() for name, value in out.items()}


def run(*arguments):
    return subprocess.run([os.environ.get("BACKGAUGE_COMMAND", "backgauge"), *map(str, arguments)], capture_output=True, text=True, check=False)


def judged(mode, dtype, sizes, seed, with_torch=False, outputs_of=tuple(EXPECTED)):
    """({"right": "PASSED", ...}, least resolution) of a net, and what oracle printed. outputs_of: which outputs are judged."""
    if with_torch and dtype == "f32":
        inputs, right = of_torch(mode, sizes, seed)
    else:
        inputs = {name: rounded(value, dtype) for name, value in drawn(mode, sizes, seed).items()}
        right = gradients(mode, inputs)
    name = min(right, key=lambda each: -right[each].size)
    outputs = {"right": right, "zeros": {each: np.zeros_like(value) for each, value in right.items()},
               "1 % off": {**right, name: right[name] * np.float32(1.01)}}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for each, value in inputs.items():
            np.save(folder / f"{each}.npy", stored(value, dtype))
        made = run("oracle", "--inputs", folder, "--op=CudnnRNNBackprop", f"--attributes=rnn_mode={mode}")
        if made.returncode != 0:
            sys.exit(made.stdout + made.stderr)
        words, resolutions = {}, []
        for what in outputs_of:
            np.savez(folder / "outputs.npz", **{each: stored(value, dtype) for each, value in outputs[what].items()})
            done = run("judge", "--dir", folder, "--outputs", folder / "outputs.npz", "--json")
            if done.returncode not in (0, 1, 5):
                sys.exit(done.stdout + done.stderr)
            record, = json.loads(done.stdout)
            words[what] = record["status"]
            resolutions += [tensor["resolution"] for tensor in record["tensors"].values() if tensor["resolution"] > 0]
        return words, min(resolutions), made.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="the first N sizes (default: all 17)")
    parser.add_argument("--dtypes", default="f32,f16,bf16", help="default: f32,f16,bf16")
    parser.add_argument("--torch", action="store_true", help="float32 nets are PyTorch's, and so are their gradients")
    options = parser.parse_args()
    print("| mode | dtype | " + " | ".join(f"{what}: {word}" for what, word in EXPECTED.items()) + " | least resolution |")
    print("|---|---|---|---|---|---|")
    good = True
    for mode in GATES:
        for dtype in options.dtypes.split(","):
            counts, least = dict.fromkeys(EXPECTED, 0), np.inf
            for seed, sizes in enumerate(SIZES[:options.sizes]):
                words, resolution, _ = judged(mode, dtype, sizes, seed, options.torch)
                least = min(least, resolution)
                for what, word in words.items():
                    counts[what] += word == EXPECTED[what]
                    if word != EXPECTED[what]:
                        print(f"{mode} {dtype} {sizes} {what}: {word}", file=sys.stderr)
            good = good and all(count == min(options.sizes, len(SIZES)) for count in counts.values())
            shown = " | ".join(f"{count} of {min(options.sizes, len(SIZES))}" for count in counts.values())
            print(f"| {mode} | {dtype} | {shown} | {least:.3g} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
