# SPDX-License-Identifier: Apache-2.0
"""Looks for the facts of impl/cudnn/COMPUTES.md, and the findings about PyTorch on a CUDA device, without backgauge:

    python in_torch_cuda.py

What PyTorch computes on the CPU comes first. Without a CUDA device the rest is SKIPPED, and the exit code 3."""
import contextlib
import sys

import numpy as np
import torch
from report import refusal, say, say_class

MODES = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}  # as cudnnRNNMode_t has them
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
CANDIDATE = 2  # the gate, of an LSTM (i f n o) and of a GRU (r z n)
WIDE = 100.0  # a pre-activation at which a gate is 0 or 1 in every dtype
UNIT = 2.0**-24


def net_of(mode, *sizes, **options):
    kind, more = {"rnn_relu": (torch.nn.RNN, {"nonlinearity": "relu"}), "rnn_tanh": (torch.nn.RNN, {}), "lstm": (torch.nn.LSTM, {}),
                  "gru": (torch.nn.GRU, {})}[mode]
    return kind(*sizes, **more, **options)


def word(dtype):
    return str(dtype).removeprefix("torch.")


def fill(net, values):
    """Sets the parameters that are named, and all others to 0."""
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            parameter.copy_(torch.as_tensor(values[name]).reshape(parameter.shape)) if name in values else parameter.zero_()


def slopes(device, dtype, T):
    """The pre-activations, and the gradient of the bias of each: T times the slope of relu."""
    pre = torch.tensor([0.0, -0.0, 1e-38, -1e-38, 1.0, -1.0], dtype=torch.float64).to(dtype)
    net = net_of("rnn_relu", 1, len(pre)).to(device, dtype)
    fill(net, {"bias_ih_l0": pre})
    net(torch.zeros(T, 1, 1, device=device, dtype=dtype))[0].sum().backward()
    return pre.tolist(), (net.bias_ih_l0.grad.double() / T).tolist()


def say_slope(device, what, at_zero):
    seen = {(word(dtype), T): slopes(device, dtype, T) for dtype in DTYPES for T in (1, 3)}
    confirmed = all(slope == (at_zero if value == 0 else value > 0) for pre, db in seen.values() for value, slope in zip(pre, db))
    pre, db = seen["float32", 1]
    say(what, confirmed, f"torch.nn.RNN(1, {len(pre)}, nonlinearity='relu') on {device}, all dtypes, T = 1 and 3: the slopes at {pre} are {db} in float32")


def readings(device, T=7, B=5, H=4):
    """What the two directions of layer 1 read of layer 0: two masks [T, B, 2 H], and whether all units of a direction read the same.
    Layer 0 is 1 everywhere; each unit of layer 1 adds up what it reads, weighted by powers of 2."""
    net = net_of("rnn_relu", 1, H, num_layers=2, bidirectional=True, dropout=0.5).to(device, torch.float64)
    ones, powers = torch.ones(H), 2.0 ** torch.arange(2 * H)
    fill(net, {"bias_ih_l0": ones, "bias_ih_l0_reverse": ones, "weight_ih_l1": powers.expand(H, -1), "weight_ih_l1_reverse": powers.expand(H, -1)})
    output = net.train()(torch.zeros(T, B, 1, device=device, dtype=torch.float64))[0].detach().cpu()
    sums = (output / 2).round().long().split(H, 2)  # a kept element is multiplied by 2
    return [each[..., :1] >> torch.arange(2 * H) & 1 for each in sums], all(bool((each == each[..., :1]).all()) for each in sums)


def say_readings(device, what, want_independent):
    torch.manual_seed(1)
    (forward, reverse), agree = readings(device)
    differ, flipped = int((forward != reverse).sum()), int((forward != reverse.flip(0)).sum())
    # Of independent masks half of the elements differ, here to within seven standard deviations.
    independent = all(abs(each - forward.numel() / 2) < 3.5 * forward.numel()**0.5 for each in (differ, flipped))
    say(what, agree and (independent if want_independent else differ == 0),
        f"two bidirectional layers with dropout 0.5 on {device}: the masks of both readings differ in {differ} of {forward.numel()} elements, "
        f"in {flipped} if one is reversed in time; all units of a direction {'agree' if agree else 'do not agree'}")


def curve(device, dtype, mode, H):
    """The largest error of tanh (rnn_tanh) or of the logistic function (lstm) with H units, in units of 2^-24 and in the last place,
    for points that add up exactly."""
    batch = 96 * max(4, 4096 // H)
    x = (torch.arange(batch, dtype=torch.float64) * (24 / batch) - 12).reshape(1, -1, 1).to(device, dtype)  # one step: nothing is carried
    bias = torch.arange(H, dtype=torch.float64) * 2.0**-13
    net = net_of(mode, 1, H).to(device, dtype)
    given = ()
    if mode == "rnn_tanh":
        fill(net, {"weight_ih_l0": torch.ones(H), "bias_ih_l0": bias})
    else:  # c stays 20, whose tanh is 1 in every dtype
        zeros, ones = torch.zeros(H), torch.ones(H)
        fill(net, {"weight_ih_l0": torch.cat([zeros, zeros, zeros, ones]), "bias_ih_l0": torch.cat([-WIDE * ones, WIDE * ones, zeros, bias.float()])})
        state = torch.zeros(1, x.shape[1], H, device=device, dtype=dtype)
        given = ((state, state + 20),)
    with torch.no_grad():
        got = net(x, *given)[0].double().cpu()
    at = x.double().cpu() + bias
    want = torch.tanh(at) if mode == "rnn_tanh" else torch.sigmoid(at)
    off = (got - want).abs()
    digits = -int(np.log2(torch.finfo(dtype).eps)) + 1
    last_place = torch.from_numpy(2.0 ** (np.frexp(want.numpy())[1] - digits))
    return float(off.max() / UNIT), float((off / last_place).max())


def bias_gradients(mode, device="cuda", dtype=torch.float32, T=5, B=4, I=16, H=16):
    torch.manual_seed(1)
    net, x = net_of(mode, I, H).to(device, dtype), torch.randn(T, B, I, device=device, dtype=dtype)
    output = net(x)[0]
    output.backward(torch.randn_like(output))
    return [each.grad.reshape(GATES[mode], H) for each in (net.bias_ih_l0, net.bias_hh_l0)]


# What only a device answers.

def cudnn(mode, x, weights, H, layers=1, dropout=0.0, directions=1, seed=None):
    """One training forward by PyTorch's binding of cuDNN: output and the bytes of the reserve space."""
    states = torch.zeros(layers * directions, x.shape[1], H, device="cuda", dtype=x.dtype)
    made_anew = None if seed is None else seed if isinstance(seed, torch.Tensor) else dropout_states(dropout, seed)
    output, _, _, reserve, _ = torch.ops.aten._cudnn_rnn(
        x, weights, 4, None, states, states.clone() if mode == "lstm" else None, MODES[mode], H, 0, layers, False, dropout, True,
        directions == 2, [], made_anew)
    return output, reserve.numel() * reserve.element_size()


def dropout_states(dropout, seed):
    return torch.ops.aten._cudnn_init_dropout_state(dropout, True, seed, dtype=torch.uint8, device=torch.device("cuda"))


def weights_of(mode, dtype, I, H, layers, directions=1):
    gates = GATES[mode] * H
    return [torch.zeros(shape, device="cuda", dtype=dtype) for layer in range(layers) for _ in range(directions)
            for shape in ((gates, directions * H if layer else I), (gates, H), (gates,), (gates,))]


def mask(mode, dtype, I=1, seed=7, dropout=0.5, T=8, B=32):
    """Which elements of the only unit of layer 0 reach layer 1, whose output is 0, or next to it, where nothing does; and that output. No state
    is carried."""
    weights = weights_of(mode, dtype, I, 1, 2)
    for layer in range(2):
        matrix, _, bias, _ = weights[4 * layer:4 * layer + 4]
        candidate = CANDIDATE if GATES[mode] > 1 else 0
        if mode == "lstm":
            bias.copy_(torch.tensor([WIDE, -WIDE, 0, WIDE]))
        elif mode == "gru":
            bias.copy_(torch.tensor([0, -WIDE, 0]))
        if layer == 0:
            bias[candidate] = 1
        else:
            matrix[candidate] = 1
    output = cudnn(mode, torch.zeros(T, B, I, device="cuda", dtype=dtype), weights, 1, 2, dropout, seed=seed)[0]
    return (output > 0.1).cpu(), output.double().cpu()


def masks():
    first = mask("rnn_relu", torch.float32)[0]
    others = {(mode, word(dtype)): mask(mode, dtype)[0] for mode in MODES for dtype in DTYPES}
    others["input size", 24] = mask("rnn_relu", torch.float32, I=24)[0]
    differ = [key for key, each in others.items() if not torch.equal(each, first)]
    say("a mask does not depend on mode, dtype and input size", not differ,
        f"{len(others)} nets with the same seed, T, B and H: the mask of {len(differ)} differs; share kept {float(first.double().mean()):.3f}")
    states = dropout_states(0.5, 7)
    twice = [mask("rnn_relu", torch.float32, seed=states)[0] for _ in range(2)]
    changed = int((twice[0] != twice[1]).sum())
    say("another forward draws another mask", changed > 0 and torch.equal(twice[0], first),
        f"with the states that a forward left, {changed} of {first.numel()} elements of the mask differ; with states made anew 0")
    factors = {p: float(mask("rnn_relu", torch.float32, dropout=p)[1].max()) for p in (0.1, 0.5, 0.9)}
    want = {p: float(np.float32(1) / (np.float32(1) - np.float32(p))) for p in factors}
    say("a kept element is multiplied by 1 / (1 - dropout) in float32", factors == want, f"the factors are {factors}")
    dropped = mask("rnn_relu", torch.float32, dropout=1.0)[1]
    say("with dropout 1 everything is dropped, and finite", bool((dropped == 0).all()), f"the largest output is {float(dropped.abs().max())}")


def accuracy():
    small, large = (curve("cuda", torch.float32, "rnn_tanh", H) for H in (1, 1024))
    say("tanh in float32 is approximate at small H", small[0] > 50,  # 122 and 1.5 were measured
        f"torch.nn.RNN(1, 1): off by up to {small[0]:.3g} x 2^-24 ({small[1]:.3g} units in the last place); "
        f"torch.nn.RNN(1, 1024), for which PyTorch may choose another algorithm: {large[0]:.3g} x 2^-24")
    places = {word(dtype): curve("cuda", dtype, "rnn_tanh", 1)[1] for dtype in (torch.float16, torch.bfloat16, torch.float64)}
    say("tanh is accurate in half, bfloat16 and float64", places["float16"] < 0.6 and places["bfloat16"] < 0.6 and places["float64"] <= 2,
        f"off by up to {', '.join(f'{value:.3g} units in the last place in {name}' for name, value in places.items())}")
    logistic = curve("cuda", torch.float32, "lstm", 1)
    say("the logistic function is accurate in float32", logistic[0] < 2.5,
        f"torch.nn.LSTM(1, 1): off by up to {logistic[0]:.3g} x 2^-24, {logistic[1]:.3g} units in the last place")


def lstm_bias_gradients(bias, c_before, upstream, saved_in):
    """The equations of one step in float64, with gates and c rounded to a dtype, and the results to that of the bias."""
    def kept(value):
        return value.to(saved_in).double()

    a_i, a_f, a_n, a_o = bias.double().split(len(c_before))
    before, dh = c_before.double(), upstream.double()
    i, f, n, o = kept(torch.sigmoid(a_i)), kept(torch.sigmoid(a_f)), kept(torch.tanh(a_n)), kept(torch.sigmoid(a_o))
    tanh_c = torch.tanh(kept(f * before + i * n))
    dc = dh * o * (1 - tanh_c * tanh_c)
    return torch.cat([dc * n * i * (1 - i), dc * before * f * (1 - f), dc * i * (1 - n * n), dh * tanh_c * o * (1 - o)]).to(bias.dtype)


def rounded_within():
    """Bits of the bias gradients of an LSTM in one step, against the equations with saved values rounded, and with nothing rounded."""
    H = 256
    for dtype in (torch.float16, torch.bfloat16):
        torch.manual_seed(3)
        bias, c_before, upstream = ((torch.randn(shape, dtype=torch.float64) * scale).to(dtype) for shape, scale in
                                    ((4 * H, 1.0), (H, 1.0), (H, 1.0)))
        net = net_of("lstm", 1, H).to("cuda", dtype)
        fill(net, {"bias_ih_l0": bias})
        zeros = torch.zeros(1, 1, H, device="cuda", dtype=dtype)
        net(torch.zeros(1, 1, 1, device="cuda", dtype=dtype), (zeros, c_before.to("cuda").reshape(1, 1, H)))[0].backward(
            upstream.to("cuda").reshape(1, 1, H))
        got = net.bias_ih_l0.grad.cpu()
        counts = [int((lstm_bias_gradients(bias, c_before, upstream, saved_in) == got).sum()) for saved_in in (torch.float64, dtype)]
        say(f"{word(dtype)} keeps what it saves in the dtype", counts[1] > counts[0],
            f"torch.nn.LSTM(1, {H}), T = 1: of {4 * H} bias gradients {counts[1]} have the bits of the equations with gates and c rounded, "
            f"{counts[0]} those with nothing rounded")


def reserve():
    def size(mode, dtype, dropout):
        x = torch.zeros(6, 4, 24, device="cuda", dtype=dtype)
        return cudnn(mode, x, weights_of(mode, dtype, 24, 32, 2), 32, 2, dropout, seed=7 if dropout else None)[1]

    found = {mode: [size(mode, dtype, p) for dtype, p in ((torch.float16, 0), (torch.float32, 0), (torch.float32, 0.5))] for mode in MODES}
    say("the reserve space of half is half as large, but for 256 bytes", all(2 * (half - 256) == single - 256 for half, single, _ in found.values()),
        f"T = 6, B = 4, I = 24, H = 32, two layers: bytes in half, in float32, and in float32 with dropout 0.5 are {found}")
    say("dropout takes one bit of the reserve space for each element", all(more - single == 6 * 4 * 32 // 8 for _, single, more in found.values()),
        "96 bytes would be expected of the two last numbers")


def products():
    torch.manual_seed(1)
    net, x = net_of("lstm", 256, 256).double(), torch.randn(16, 32, 256)
    want = net(x.double())[0].detach()
    errors = {}
    for name, flag in (("FP32", False), ("TF32", True)):
        torch.backends.cudnn.allow_tf32 = flag
        got = net.float().cuda()(x.cuda())[0].detach().cpu().double()
        errors[name] = float((got - want).abs().max() / want.abs().max())
        net = net.cpu()
    torch.backends.cudnn.allow_tf32 = False
    say("float32 products are TF32 unless that is turned off", errors["TF32"] > 10 * errors["FP32"],
        f"torch.nn.LSTM(256, 256), against float64: allow_tf32 = True {errors['TF32']:.2g}, False {errors['FP32']:.2g} of the largest output")


def two_biases():
    differ = {mode: [gate for gate, (a, b) in enumerate(zip(*bias_gradients(mode))) if not torch.equal(a, b)] for mode in MODES}
    say("the two biases of a gate have the same gradient, but for the n of a GRU", differ == {**dict.fromkeys(MODES, []), "gru": [CANDIDATE]},
        f"gates whose gradients differ: {differ}")


def repeats():
    runs = {(mode, word(dtype)): {bias_gradients(mode, dtype=dtype)[0].cpu().double().numpy().tobytes() for _ in range(20)}
            for mode in MODES for dtype in (torch.float16, torch.float32)}
    say("twenty runs have the same bits", all(len(each) == 1 for each in runs.values()),
        f"numbers of different gradients: { {' '.join(key): len(each) for key, each in runs.items()} }")


def refusals():
    seen = {name: refusal(lambda kind=kind: kind(0, 16)) for name, kind in (("RNN", torch.nn.RNN), ("GRU", torch.nn.GRU), ("LSTM", torch.nn.LSTM))}
    say("refuses I = 0", all(seen.values()), "; ".join(f"torch.nn.{name}(0, 16): {text or 'accepted'}" for name, text in seen.items()))
    text = refusal(lambda: torch.nn.LSTM(1, 1).cuda()(torch.zeros(65536, 1, 1, device="cuda")))
    say("refuses T = 65536", text, f"torch.nn.LSTM(1, 1) with 65536 steps: {text or 'accepted'}")


def classes():
    def gradients(dtype, narrow):
        torch.manual_seed(1)
        net = torch.nn.LSTM(16, 16).to(narrow).to("cuda", dtype)
        x = torch.randn(5, 4, 16).to(narrow).to("cuda", dtype).requires_grad_()
        output, _ = net(x)
        upstream = torch.randn(5, 4, 16).to(narrow).to("cuda", dtype)
        return [each.double().cpu().numpy() for each in torch.autograd.grad(output, [x, *net.parameters()], upstream)]

    for narrow in (torch.float16, torch.bfloat16):
        say_class("torch.nn.LSTM(16, 16) on a CUDA device", word(narrow), gradients(narrow, narrow), gradients(torch.float64, narrow))


def on_cpu():
    say_slope("cpu", "on the CPU the slope of relu at 0 is 0", 0)
    say_readings("cpu", "on the CPU both directions read through one mask", False)
    error, places = curve("cpu", torch.float32, "rnn_tanh", 1)
    say("on the CPU tanh in float32 is accurate", error < 2, f"torch.nn.RNN(1, 1): off by up to {error:.3g} x 2^-24, {places:.3g} units in the last place")


ON_DEVICE = {"the slope of relu at 0 is 1": lambda what: say_slope("cuda", what, 1),
             "each direction has a dropout mask of its own": lambda what: say_readings("cuda", what, True),
             "dropout masks": lambda _: masks(), "accuracy of tanh and the logistic function": lambda _: accuracy(),
             "what half and bfloat16 round": lambda _: rounded_within(), "sizes of the reserve space": lambda _: reserve(),
             "TF32": lambda _: products(), "gradients of both biases": lambda _: two_biases(), "repeated runs": lambda _: repeats(),
             "refusals": lambda _: refusals(), "accuracy classes": lambda _: classes()}


def absence():
    """Why cuDNN cannot be asked; "" if it can."""
    if not torch.version.cuda:
        return f"PyTorch {torch.__version__} was built without CUDA"
    if not torch.cuda.is_available():
        return "no CUDA device"
    return "" if torch.backends.cudnn.is_available() else f"PyTorch {torch.__version__} has no cuDNN"


def main():
    print(f"PyTorch {torch.__version__}, CPU", file=sys.stderr)
    on_cpu()
    if why := absence():
        for what in ON_DEVICE:
            print(f"SKIPPED {what}: {why}")
        return 3
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    print(f"cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name()}", file=sys.stderr)
    for what, look in ON_DEVICE.items():
        try:
            look(what)
        except Exception as error:  # the other facts are still looked for
            say(what, False, f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")
    return 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
