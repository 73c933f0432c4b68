// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/compare.h"

#ifdef __FAST_MATH__
#error "the judge must see NaN and Inf: build it without -ffast-math"
#endif

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

#include "reference/contract/storage.h"

namespace backgauge {
namespace {

// In long double |got - want| / allowed is exact enough and stays in range: the largest double divided by the smallest
// is 2^2098.
static_assert(LDBL_MAX_EXP > 2200 && LDBL_MIN_EXP < -2200, "the judge needs a long double wider than double");

enum class Kind { kFinite, kPositiveInfinity, kNegativeInfinity, kNan };

Kind kind_of(double value) {
  constexpr std::uint64_t kInfinity = 0x7ff0000000000000;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  if (magnitude < kInfinity) return Kind::kFinite;
  if (magnitude > kInfinity) return Kind::kNan;
  return bits == kInfinity ? Kind::kPositiveInfinity : Kind::kNegativeInfinity;
}

Kind kind_of(long double value) {
  if (std::isnan(value)) return Kind::kNan;
  if (!std::isinf(value)) return Kind::kFinite;
  return std::signbit(value) ? Kind::kNegativeInfinity : Kind::kPositiveInfinity;
}

struct Judgement {
  bool judged = true;
  bool passed = false;
  bool wrong_kind = false;
  double ratio = 0;  // if both are finite
};

constexpr Judgement kNotJudged{.judged = false, .passed = true};
constexpr Judgement kRight{.passed = true};
constexpr Judgement kWrongKind{.wrong_kind = true, .ratio = std::numeric_limits<double>::infinity()};

bool within_overflow(Kind infinity, long double want, long double allowed, long double largest) {
  return infinity == Kind::kPositiveInfinity ? want + allowed > largest : want - allowed < -largest;
}

Judgement judge_finite(double got, long double want, double allowed) {
  const long double error = std::fabs(static_cast<long double>(got) - want);
  if (error == 0) return kRight;
  const long double ratio = error / static_cast<long double>(allowed);  // allowed 0: inf
  if (ratio <= 1) return {.passed = true, .ratio = static_cast<double>(ratio)};
  // Rounding to double must not make a failure look like a pass.
  return {.ratio = std::max(static_cast<double>(ratio), std::nextafter(1.0, 2.0))};
}

Judgement judge_element(double got, long double want, double allowed, long double largest) {
  const Kind got_kind = kind_of(got), want_kind = kind_of(want);
  if (want_kind != Kind::kFinite) {
    if (allowed == std::numeric_limits<double>::infinity()) return kNotJudged;
    return got_kind == want_kind ? kRight : kWrongKind;
  }
  if (got_kind == Kind::kNan) return kWrongKind;
  if (got_kind != Kind::kFinite) {
    if (!within_overflow(got_kind, want, static_cast<long double>(allowed), largest)) return kWrongKind;
    return allowed == std::numeric_limits<double>::infinity() ? kNotJudged : kRight;
  }
  if (allowed == std::numeric_limits<double>::infinity()) return kNotJudged;
  return judge_finite(got, want, allowed);
}

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

// Larger is worse: unwritten, then wrongly finite or not finite, then outside the bound.
struct Severity {
  int rank = -1;
  double ratio = 0;
  auto operator<=>(const Severity&) const = default;
};

}  // namespace

TensorReport compare(const Wanted& wanted, std::span<const double> got, std::span<const std::uint8_t> unwritten,
                     backgauge_dtype dtype, const Declared& declared) {
  TensorReport report;
  report.name = wanted.name;
  report.shape = wanted.shape;
  report.elements = static_cast<std::int64_t>(wanted.value.size());
  const auto largest = static_cast<long double>(float_format(dtype).largest);
  Severity worst;
  for (std::size_t k = 0; k < wanted.value.size(); ++k) {
    const bool missing = !unwritten.empty() && unwritten[k] != 0;
    const Judgement judgement =
        missing ? Judgement{} : judge_element(got[k], wanted.value[k], wanted.allowed[k], largest);
    report.judged += judgement.judged ? 1 : 0;
    report.unbounded += !judgement.judged && kind_of(wanted.value[k]) == Kind::kFinite ? 1 : 0;
    report.bad += judgement.passed ? 0 : 1;
    report.nonfinite += judgement.wrong_kind ? 1 : 0;
    report.unwritten += missing ? 1 : 0;
    if (!missing && !judgement.wrong_kind && judgement.ratio > report.max_ratio) report.max_ratio = judgement.ratio;
    const Severity severity{missing ? 2 : judgement.wrong_kind ? 1 : 0, judgement.ratio};
    if (judgement.judged && severity > worst) {
      worst = severity;
      report.worst = static_cast<std::int64_t>(k);
      report.got = got[k];
      report.want = static_cast<double>(wanted.value[k]);
      report.allowed = wanted.allowed[k];
    }
  }
  const Resolution found = resolution(wanted);
  report.resolution = found.median;
  report.vacuous = is_vacuous(found, dtype, declared);
  return report;
}

bool is_vacuous(const Resolution& found, backgauge_dtype dtype, const Declared& declared) {
  return !found.all_determined && !(found.median >= least_resolution(dtype, declared));
}

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
    const bool approximates =
        declared.tanh_absolute + declared.tanh_ulps > 0 || declared.sigmoid_absolute + declared.sigmoid_ulps > 0;
    if (approximates || declared.numerical_contract >= BACKGAUGE_FP32_TF32) return kElevenBits;
  }
  return is_narrow(dtype) ? kElevenBits : kFull;
}

std::string faulty_bound(const Wanted& wanted) {
  const auto elements = element_count(wanted.shape);
  const auto count = static_cast<std::int64_t>(wanted.value.size());
  if (elements != count || wanted.allowed.size() != wanted.value.size()) {
    return fmt::format("oracle: {} has {} values and {} bounds for shape {}", wanted.name, count, wanted.allowed.size(),
                       to_string(wanted.shape));
  }
  for (std::size_t k = 0; k < wanted.value.size(); ++k) {
    if (kind_of(wanted.value[k]) != Kind::kFinite || wanted.allowed[k] >= 0) continue;
    return fmt::format("oracle: the bound of {}{} is {}", wanted.name,
                       index_text(wanted.shape, static_cast<std::int64_t>(k)), wanted.allowed[k]);
  }
  return "";
}

std::vector<std::int64_t> index_of(const Shape& shape, std::int64_t flat) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t k = shape.size(); k-- > 0;) {
    index[k] = flat % shape[k];
    flat /= shape[k];
  }
  return index;
}

std::string index_text(const Shape& shape, std::int64_t flat) {
  return shape.empty() ? "" : fmt::format("[{}]", fmt::join(index_of(shape, flat), ","));
}

}  // namespace backgauge
