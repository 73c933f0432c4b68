// SPDX-License-Identifier: Apache-2.0
// Judges outputs that any other program has made and stored.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/verdict.h"
#include "reference/oracle.h"

namespace backgauge {

struct GivenTensor {
  std::string name;
  Shape shape;
  backgauge_dtype dtype = BACKGAUGE_FLOAT32;
  std::vector<double> values;  // as many as the shape says
};

// Every wanted tensor must be given, in its shape and in `dtype`; other tensors are not looked at.
Verdict judge_values(const std::vector<Wanted>& wanted, const std::vector<GivenTensor>& given, backgauge_dtype dtype,
                     const Declared& declared);

}  // namespace backgauge
