// SPDX-License-Identifier: Apache-2.0
// The outputs of a watched session lie in memory that the judge sees as well: it takes them when its own clock stops.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "reference/contract/call.h"

namespace backgauge {

struct OutputPlace {
  std::string_view name;
  Shape shape{};
  std::size_t offset = 0, bytes = 0;  // in the block, which begins at a page
};

// The outputs of a call of the gradient op. shift: as in placing.h.
std::vector<OutputPlace> output_places(const Problem& problem, std::size_t shift);
std::size_t output_block_bytes(const Problem& problem);

}  // namespace backgauge
