# SPDX-License-Identifier: Apache-2.0
"""torch_lstm.py [--max-time=SECONDS] LINE...: PyTorch's nn.LSTM on a CUDA device, its backward alone, timed by events. A LINE is a case line of
cudnn_rnn_backprop; of it only the dimensions count: one layer, one direction, half and float32 (with TF32 off, then on). No LINE is
begun after that time.
Prints samples in the format of `backgauge bench` (perf/results/samples.h)."""

import json
import math
import re
import sys
import time

import torch

ROUNDS = 30


def time_of(work, calls):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


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
    return [time_of(work, calls) / 1e6 for _ in range(ROUNDS)]


def main():
    if not torch.cuda.is_available():
        print("torch_lstm.py: no CUDA device", file=sys.stderr)
        return 3
    print(json.dumps({"schema": "backgauge.samples/1", "context": {}}))
    most = [float(word.removeprefix("--max-time=")) for word in sys.argv[1:] if word.startswith("--max-time=")]
    end = time.monotonic() + most[-1] if most else math.inf
    for line in [word for word in sys.argv[1:] if not word.startswith("--max-time=")]:
        if time.monotonic() > end:
            break
        sizes = [int(number) for number in re.findall(r" t(\d+)b(\d+)i(\d+)h(\d+) ", line)[0]]
        for word, dtype, tf32 in (("f16", torch.float16, False), ("f32", torch.float32, False), ("f32", torch.float32, True)):
            head = {"workload": re.sub(r"dt=\w+", f"dt={word}", line), "implementation": "torch-tf32" if tf32 else "torch",
                    "version": f"{torch.__version__}, cuDNN {torch.backends.cudnn.version()}"}
            try:
                for k, seconds in enumerate(measure(*sizes, dtype, tf32)):
                    print(json.dumps({**head, "round": k, "seconds": seconds, "fma_gflops": None, "disturbed": False}))
                unjudged = {"verdict": "UNJUDGED", "reason": "", "error_over_bound": None, "tensors": {}}
                print(json.dumps({**head, **unjudged}), flush=True)
            except RuntimeError as error:
                print(json.dumps({**head, "verdict": "BROKEN", "reason": str(error).splitlines()[0]}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
