// SPDX-License-Identifier: Apache-2.0
// Finds the tensor of a refused call that contradicts the others, for the message: the first one that does not fit the
// sizes that most tensors agree on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "reference/contract/op_spec.h"

namespace backgauge {

// A tensor of a call; `shape` has the rank of the op's table, and dimensions of 0 to 2^48.
struct GivenShape {
  const TensorSpec* spec;
  std::span<const std::int64_t> shape;
};

struct Contradiction {
  GivenShape tensor;
  Extents extents;  // the sizes that most of the others imply
  // "B = 3 from cs_prev, H = 2 from wci": the sizes that do not fit; "" if no tensor implies them.
  std::string origin;
};

// On input the tensors whose shapes must agree; `known` has the extents that no shape implies: D, peephole, lstm.
// On output nullopt if they agree, or if no sizes at all are legal: then no single tensor is wrong.
std::optional<Contradiction> find_contradiction(const OpSpec& op, const backgauge_attributes& attributes, Extents known,
                                                std::span<const GivenShape> tensors);

}  // namespace backgauge
