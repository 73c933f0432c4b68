# SPDX-License-Identifier: Apache-2.0
"""Reproduces the findings about PyTorch without backgauge."""
import torch
from report import refusal, say, say_class

T, B, I, H = 5, 4, 16, 16

refusals = {kind.__name__: refusal(lambda kind=kind: kind(0, H)) for kind in (torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM)}
say("refuses I = 0", all(refusals.values()), "; ".join(f"torch.nn.{name}(0, {H}): {text or 'accepted'}" for name, text in refusals.items()))


def gradients(dtype, narrow):
    """Those of an LSTM, of values that the narrow type has."""
    torch.manual_seed(1)
    net = torch.nn.LSTM(I, H).to(narrow).to(dtype)
    x = torch.randn(T, B, I).to(narrow).to(dtype).requires_grad_()
    output, _ = net(x)
    upstream = torch.randn(T, B, H).to(narrow).to(dtype)
    return [each.double().numpy() for each in torch.autograd.grad(output, [x, *net.parameters()], upstream)]


for narrow in (torch.float16, torch.bfloat16):
    say_class(f"torch.nn.LSTM({I}, {H})", str(narrow).removeprefix("torch."), gradients(narrow, narrow), gradients(torch.float64, narrow))
