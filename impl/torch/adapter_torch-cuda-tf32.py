# SPDX-License-Identifier: Apache-2.0
"""PyTorch's nn.LSTM, nn.GRU and nn.RNN on a CUDA device, by cuDNN, float32 with TF32, as PyTorch does by default.

    backgauge verify --impl=torch-cuda-tf32
"""
import backgauge
import torch
from torch_rnn import need_device, rnn_on

need_device()
torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
__version__ = f"{torch.__version__} TF32, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name()}"

rnn = backgauge.implements("CudnnRNNBackprop", dtypes=["f32"], numerical_contract="fp32_tf32", tanh_absolute="2^-17", relu_slope_at_zero=True,
                           determinism="not_deterministic", input_modes=["linear_input"], staged=True)(rnn_on("cuda"))
