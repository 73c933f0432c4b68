// SPDX-License-Identifier: Apache-2.0
// The baseline: TensorFlow's loops for a CPU, on Eigen.
#pragma once

#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge {

// Never nullptr.
const backgauge_implementation* eigen_implementation(std::string& error);

}  // namespace backgauge
