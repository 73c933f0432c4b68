// SPDX-License-Identifier: Apache-2.0
// Random choices of a case, in an order that its seed fixes.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/case/line/random.h"

namespace backgauge {

class CaseDraw {
 public:
  explicit CaseDraw(std::uint64_t seed) : stream_(seed, "case") {}

  std::int64_t below(std::int64_t n) { return stream_.choice(drawn_++, n); }
  bool once_in(std::int64_t n) { return below(n) == 0; }
  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }

 private:
  const RandomStream stream_;
  std::int64_t drawn_ = 0;
};

// Whether recurrences of this data must be short, because the bounds of long ones prove nothing: its values are not
// random, or vanish.
inline bool must_be_short(DataProfile data) {
  switch (data) {
    case DataProfile::kStratified:
    case DataProfile::kZeros:
    case DataProfile::kScales:
    case DataProfile::kHuge: return false;
    default: return true;
  }
}

}  // namespace backgauge
