# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad in Triton on a CUDA device; the kernel is timed, without the copies between host and device.

    backgauge verify --impl=triton-cuda --tier=smoke
"""
import backgauge
import torch

if not torch.cuda.is_available():
    raise RuntimeError("no CUDA device")
import triton
from triton_cell import launch

__version__ = f"{triton.__version__}, {torch.cuda.get_device_name()}"
ROWS = 16  # a tile is eight values of each tensor for each of 128 threads; that number was not measured


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f16", "f32"], staged=True)
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    inputs = [torch.from_numpy(value.copy()).cuda() for value in (cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad)]
    kernel, outputs = launch(inputs, ROWS), []

    def on_device():
        outputs[:] = kernel(use_peephole)
        torch.cuda.synchronize()

    torch.cuda.synchronize()  # the copies are done
    return on_device, lambda _: [value.cpu().numpy() for value in outputs]
