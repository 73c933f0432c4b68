// SPDX-License-Identifier: Apache-2.0
// Products of sizes, as counts of elements or of operations, which may be more than an int64 holds.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace backgauge {

inline double size_product(std::initializer_list<std::int64_t> sizes) {
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

}  // namespace backgauge
