// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/ops/sign_pattern.h"

#include <stdexcept>
#include <string>

#include "properties/case/line/random.h"

namespace backgauge {

Flips draw_flips(std::uint64_t seed, std::string_view what, std::int64_t count) {
  const RandomStream stream(seed, what);
  Flips out = no_flips(count);
  for (std::int64_t k = 0; k < count; ++k) out[static_cast<std::size_t>(k)] = stream.sign(k) < 0 ? 1 : 0;
  return out;
}

Flips no_flips(std::int64_t count) { return Flips(static_cast<std::size_t>(count), 0); }

Flips joined(Flips a, const Flips& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void refuse_signs(const TensorSpec& tensor) {
  throw std::logic_error("nothing says which signs of " + std::string(tensor.name) + " change");
}

}  // namespace backgauge
