// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/additions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "reference/contract/storage.h"

namespace backgauge {
namespace {

double number_before(backgauge_dtype dtype) {
  std::array<std::byte, 8> bytes{};
  bytes.fill(RunOptions::kFiniteOutput);
  double value = 0;
  decode(dtype, bytes.data(), std::span(&value, 1));
  return value;
}

// The elements that are poison in `poisoned`, if all of them are additions in `finite`; else 0.
std::int64_t additions(const Output& poisoned, const Output& finite, const Wanted& wanted, const Problem& problem) {
  const double before = number_before(problem.dtype);
  // A sum over steps and batch may be rounded at each of its additions, every time with the number that was there.
  const Extents& e = problem.extents;
  const double rounding = float_format(problem.dtype).unit_roundoff *
                          static_cast<double>(std::max<std::int64_t>(e.T, 1) * std::max<std::int64_t>(e.B, 1));
  std::int64_t count = 0;
  bool can_tell = false;
  for (std::size_t k = 0; k < wanted.value.size(); ++k) {
    if (!std::isnan(poisoned.values[k]) || !std::isfinite(wanted.value[k])) continue;
    const auto want = static_cast<double>(wanted.value[k]);
    const double tolerance = wanted.allowed[k] + rounding * (std::fabs(want) + before);
    if (!(std::fabs(finite.values[k] - before - want) <= tolerance)) return 0;
    can_tell = can_tell || std::fabs(want) > 2 * tolerance;
    ++count;
  }
  return can_tell ? count : 0;
}

}  // namespace

void mark_additions(std::vector<TensorReport>& reports, const std::vector<Output>& poisoned,
                    const std::vector<Output>& finite, const std::vector<Wanted>& wanted, const Problem& problem) {
  const auto output_of = [](const std::vector<Output>& outputs, const std::string& name) {
    return std::ranges::find_if(outputs, [&](const Output& output) { return output.raw.name == name; });
  };
  for (TensorReport& report : reports) {
    if (report.unwritten == 0 && report.nonfinite == 0) continue;
    const auto first = output_of(poisoned, report.name), other = output_of(finite, report.name);
    const auto want = std::ranges::find(wanted, report.name, &Wanted::name);
    if (first == poisoned.end() || other == finite.end() || want == wanted.end()) continue;
    report.added = additions(*first, *other, *want, problem);
    if (report.added > 0) report.unwritten = report.nonfinite = 0;
  }
}

}  // namespace backgauge
