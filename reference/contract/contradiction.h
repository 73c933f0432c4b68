// SPDX-License-Identifier: Apache-2.0
// Which tensor of a refused call contradicts the others, for the message: the first one that does not fit the sizes
// that most tensors agree on. Only calls that are refused pay for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "reference/contract/op_spec.h"

namespace backgauge {

// A tensor of a call; `shape` has the rank that its table says, and dimensions of 0 to 2^48.
struct GivenShape {
  const TensorSpec* spec;
  std::span<const std::int64_t> shape;
};

struct Contradiction {
  GivenShape tensor;
  Extents extents;  // what most of the others say
  std::string
      origin;  // "B = 3 from cs_prev, H = 2 from wci": of the sizes that do not fit; "" where no tensor says them
};

// On input the tensors whose shapes are to agree; `known` has what no shape says: D, peephole, lstm.
// On output nullopt if they agree, or if no sizes at all are legal: then no tensor is to blame alone.
std::optional<Contradiction> find_contradiction(const OpSpec& op, const backgauge_attributes& attributes, Extents known,
                                                std::span<const GivenShape> tensors);

}  // namespace backgauge
