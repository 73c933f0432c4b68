# SPDX-License-Identifier: Apache-2.0
"""torch_lstm.py T,B,I,H...: PyTorch's nn.LSTM on a CUDA device, the backward alone, by events. One line of JSON for each shape,
dtype and precision, in the words of backgauge-gpu-trial. float32 runs with TF32 off, then on."""

import json
import statistics
import sys

import torch

ROUNDS = 30
EVICTING = 256 << 20  # bytes: twice the largest L2 so far


def time_of(work, calls):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def quantiles(values):
    values = sorted(values)
    at = lambda share: values[int(share * (len(values) - 1))]
    return {"median": statistics.median(values), "p10": at(0.1), "p90": at(0.9), "n": len(values)}


def measure(T, B, I, H, dtype, tf32):
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.manual_seed(1)
    net = torch.nn.LSTM(I, H).to("cuda", dtype)
    x = torch.randn(T, B, I, device="cuda", dtype=dtype, requires_grad=True)
    upstream = torch.randn(T, B, H, device="cuda", dtype=dtype)
    output, _ = net(x)
    wanted = [x, *net.parameters()]
    work = lambda: torch.autograd.grad(output, wanted, upstream, retain_graph=True)
    work()
    calls = max(1, min(1000, int(2000 / max(time_of(work, 1), 0.1))))
    evicting = torch.empty(EVICTING, device="cuda", dtype=torch.uint8)
    hot, cold = [], []
    for _ in range(ROUNDS):
        hot.append(time_of(work, calls))
        evicting.zero_()
        cold.append(time_of(work, 1))
    return {"hot_us": quantiles(hot), "cold_us": quantiles(cold), "step_us": statistics.median(hot) / T}


def main():
    if not torch.cuda.is_available():
        print("torch_lstm.py: no CUDA device", file=sys.stderr)
        return 3
    for text in sys.argv[1:]:
        for word, dtype, tf32 in (("f16", torch.float16, False), ("f32", torch.float32, False), ("f32", torch.float32, True)):
            line = {"what": "time", "shape": f"cudnn_rnn_backprop:{text}:{word}:lstm",
                    "implementation": "torch-tf32" if tf32 else "torch",
                    "version": f"{torch.__version__}, cuDNN {torch.backends.cudnn.version()}"}
            try:
                line |= measure(*map(int, text.split(",")), dtype, tf32)
            except RuntimeError as error:
                line["error"] = str(error).splitlines()[0]
            print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
