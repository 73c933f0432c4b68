// SPDX-License-Identifier: Apache-2.0
// The weights that multiply a state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/contract/call.h"

namespace backgauge {

// Elements of the recurrent weights and of their gradients, and of the gradients of a forget gate.
struct StateWeights {
  std::string_view weights, weights_gradient;
  std::vector<std::size_t> recurrent{}, forget{};
};

inline void append(std::vector<std::size_t>& to, std::int64_t begin, std::int64_t count) {
  for (std::int64_t k = begin; k < begin + count; ++k) to.push_back(static_cast<std::size_t>(k));
}

}  // namespace backgauge
