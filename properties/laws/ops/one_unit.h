// SPDX-License-Identifier: Apache-2.0
// A problem of one unit, one input, one sample and one step, whose values an op chooses so that its results can be
// worked out by hand.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/case/line/random.h"
#include "reference/contract/call.h"

namespace backgauge::law_ops {

using Numbers = std::vector<long double>;
using Results = std::map<std::string, Numbers, std::less<>>;

class OneUnit {
 public:
  // coarse: one_unit_by_hand.h.
  OneUnit(const Case& c, bool coarse);

  const Case& settings() const { return c_; }
  bool coarse() const { return coarse_; }
  const Problem& problem() const { return problem_; }

  double one_of(const std::vector<double>& values);
  double signed_one_of(const std::vector<double>& values) { return one_of({-1, 1}) * one_of(values); }
  // Sets an input where the op has it. Returns the value.
  double set(std::string_view name, double value);
  // Of an input. Throws std::out_of_range if there is none.
  std::vector<double>& values_of(std::string_view name);

 private:
  const Case& c_;
  const bool coarse_;
  Problem problem_;
  const RandomStream stream_;
  std::int64_t drawn_ = 0;
};

}  // namespace backgauge::law_ops
