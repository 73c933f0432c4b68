// SPDX-License-Identifier: Apache-2.0
// Explains why an implementation for NVIDIA GPUs cannot run on this machine.
#pragma once

#include <string>

namespace backgauge {

// "" if the current CUDA device can be used by a program made with this CUDA runtime; else one line that begins with
// "no NVIDIA driver", "the NVIDIA driver is too old", or "no CUDA device".
std::string device_absence();

}  // namespace backgauge
