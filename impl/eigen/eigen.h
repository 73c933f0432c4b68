// SPDX-License-Identifier: Apache-2.0
// The baseline: TensorFlow's loops for a CPU, on Eigen.
#pragma once

#include "reference/contract/backgauge.h"

namespace backgauge {

const backgauge_implementation& eigen_implementation();

}  // namespace backgauge
