// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/backend.h"

namespace backgauge::cuda {

const Backend kBackend = {"cuda-on-host", "the implementation for NVIDIA GPUs, its kernels run by the processor",
                          BACKGAUGE_HOST};

std::string backend_version() { return "blocks and threads one by one"; }

std::string refusal() { return ""; }

int current_device() { return 0; }

void prepare_device() {}

}  // namespace backgauge::cuda
