// SPDX-License-Identifier: Apache-2.0
// A problem with values, and what is known about them.
#pragma once

#include <cstdint>
#include <string>

#include "reference/contract/call.h"

namespace backgauge {

// Facts about the values that the generator has made. The judge never guesses them from the values.
struct DataFacts {
  bool structured = false;       // few distinct values, so that rounding errors are not independent
  bool consistent_saved = true;  // saved tensors come from a forward pass, and co == tanh(cs) at every step, cs intact
  bool nonfinite = false;        // NaN or Inf in elements that are read
  bool training = false;         // all tensors are those of a training step without clipping, what is not read included

  bool operator==(const DataFacts&) const = default;
};

struct Filled {
  Problem problem;  // without output, output_h, output_c and reserve_space, which the implementation's forward computes
  DataFacts facts;
  std::uint16_t checksum = 0;
  std::string error;  // not empty: golden file unreadable, checksum differs, call refused by the contract, too large
};

}  // namespace backgauge
