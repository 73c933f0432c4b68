# SPDX-License-Identifier: Apache-2.0
"""PyTorch's nn.LSTM, nn.GRU and nn.RNN on a CUDA device, by cuDNN: the backward by autograd, TF32 off.

    backgauge verify --impl=torch-cuda
    backgauge bench --impl=torch-cuda,torch-cuda-tf32

Neither the forward is timed nor the copies between host and device. Masks of dropout are those of the call, multiplied in between layers,
so that cuDNN draws none. What cuDNN computes otherwise than a CPU: impl/cudnn/COMPUTES.md.
"""
import backgauge
import torch
from torch_rnn import need_device, rnn_on

need_device()
torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
__version__ = f"{torch.__version__}, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name()}"

# In half and bfloat16, cuDNN rounds what it saves and hands on; in float32 and half, it chooses kernels with an approximate tanh at small H.
rnn = backgauge.implements("CudnnRNNBackprop", dtypes=["f16", "bf16", "f32", "f64"], accuracy_class="S",
                           tanh_absolute={"f16": "2^-17", "f32": "2^-17"}, relu_slope_at_zero=True,
                           determinism="not_deterministic", input_modes=["linear_input"], staged=True)(rnn_on("cuda"))
