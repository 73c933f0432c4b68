// SPDX-License-Identifier: Apache-2.0
// How the inputs of a timed call differ from those of the workload: in their signs, and in calls that are watched in
// their digits as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "perf/workload/digits.h"
#include "perf/workload/signs.h"

namespace backgauge {

struct Variation {
  // fresh: nullopt if the digits stay.
  Variation(const Problem& problem, std::optional<Fresh> fresh, std::uint64_t seed) : signs(problem, seed) {
    if (fresh) digits.emplace(problem, *fresh, seed);
  }

  // Changes stored elements of the input `name`. Applying it twice has no effect.
  void apply(std::string_view name, backgauge_dtype dtype, std::span<std::byte> bytes) const {
    signs.apply(name, dtype, bytes);
    if (digits) digits->apply(name, dtype, bytes);
  }

  Signs signs;
  std::optional<Digits> digits{};
};

}  // namespace backgauge
