// SPDX-License-Identifier: Apache-2.0
// Other values of the same workload, of the same size: their signs and exponents stay, and of the digits behind all
// that the dtype has but the first of the fraction are drawn anew. No symmetry leads from the outputs of one draw to
// those of another, so that the oracle has to run for each that is judged. Zeros, powers of two, infinities and NaN
// stay as they are: some of them mean something, such as a gate that is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reference/contract/call.h"

namespace backgauge {

// Which inputs get other digits. Tensors that a forward has saved never do: they belong together. kUpstream: upstream
// gradients alone, so that all others are still those of one forward.
enum class Fresh { kEverything, kUpstream };

class Digits {
 public:
  // Drawn from the seed, for the inputs of `problem`, the problem of a gradient op.
  Digits(const Problem& problem, Fresh fresh, std::uint64_t seed);

  // Changes the stored elements of the input `name`, if it is one of them. Applying it twice has no effect.
  void apply(std::string_view name, backgauge_dtype dtype, std::span<std::byte> bytes) const;

  // The problem with these digits.
  Problem in(Problem problem) const;

 private:
  struct Drawn {
    std::string_view name;
    std::uint32_t seed;
  };
  std::vector<Drawn> drawn_;
};

}  // namespace backgauge
