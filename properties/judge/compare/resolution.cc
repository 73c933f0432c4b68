// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/resolution.h"

#include <algorithm>
#include <cmath>

namespace backgauge {
namespace {

// float32 and float64: a part in a thousand, 2^14 roundings of float32. Larger precision faults (a sum kept in
// fewer bits, a coarse activation) must be noticed.
constexpr double kFull = 1e3;

// Operands or results with 11 significant bits: the last rounding alone allows a resolution of 2048. The sums of small
// cases come within a factor of 100 of it.
constexpr double kElevenBits = 20;

// Roundings to 11 bits at every step or operation, or to 8 bits: a sum of 100 such roundings has a resolution of 20 or
// less. A missing term must still be noticed: gradients are sums over up to four gates, and one of four equal terms is
// a quarter of the result.
constexpr double kOneTermInFour = 4;

}  // namespace

Resolution resolution(const Wanted& wanted) {
  std::vector<double> ratios;
  for (std::size_t k = 0; k < wanted.value.size(); ++k) {
    const long double value = wanted.value[k];
    const double allowed = wanted.allowed[k];
    if (!std::isfinite(value) || allowed == 0) continue;
    ratios.push_back(static_cast<double>(std::fabs(value) / static_cast<long double>(allowed)));
  }
  if (ratios.empty()) return {};
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>((ratios.size() - 1) / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return {*middle, false};
}

double least_resolution(backgauge_dtype dtype, const Declared& declared) {
  constexpr double kEighthBit = 0x1p-8;
  if (is_narrow(dtype) && declared.accuracy_class != BACKGAUGE_CLASS_A) return kOneTermInFour;
  if (float_format(dtype).unit_roundoff >= kEighthBit) return kOneTermInFour;
  if (dtype != BACKGAUGE_FLOAT64) {
    if (declared.numerical_contract == BACKGAUGE_BF16_ACC32) return kOneTermInFour;
    const bool narrow =
        declared.numerical_contract != BACKGAUGE_FP32_STRICT && declared.numerical_contract != BACKGAUGE_FP32_3XTF32;
    if (narrow) return kElevenBits;
  }
  return is_narrow(dtype) ? kElevenBits : kFull;
}

}  // namespace backgauge
