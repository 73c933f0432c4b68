// SPDX-License-Identifier: Apache-2.0
// Conditions on sizes by which libraries choose their kernels: alignment, tiles, thresholds of a size and of a product
// of sizes. A kernel that is wrong for some sizes is usually wrong for a combination of two or three of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "properties/campaign/settings/settings.h"
#include "properties/case/line/case.h"

namespace backgauge {

struct SizeCondition {
  std::string subject;  // "H". Two conditions of a combination have different subjects
  std::string text;     // "H % 64 = 1"
  std::function<bool(const Case&)> is_met;
};

// Those of an op; its dtypes, modes, directions and peepholes are among them.
const std::vector<SizeCondition>& size_conditions(backgauge_op op);

// The places of those that a case meets, ascending. None if its values may hide a wrong kernel: no batch, no step, or a
// data profile with which little of the gradients is left.
std::vector<int> conditions_met(const Case& c);

// Two or three conditions of an op: a key, and a set of keys.
using SizeCombination = std::uint32_t;
std::string text_of(backgauge_op op, SizeCombination combination);  // "H % 64 = 1 and T >= 8"

class SizeCombinations {
 public:
  explicit SizeCombinations(backgauge_op op);

  // Adds or removes those of `strength` conditions of which all are in `met`.
  void insert(const std::vector<int>& met, int strength);
  void erase(const std::vector<int>& met, int strength);
  // How many of them are in the set.
  std::int64_t count(const std::vector<int>& met, int strength) const;

  std::int64_t size() const { return size_; }
  SizeCombination first() const;  // 0 if empty

 private:
  template <class Visit>
  void visit(const std::vector<int>& met, int strength, const Visit& visit) const;

  std::vector<int> subjects_;  // of each condition
  std::vector<std::uint8_t> has_;
  std::int64_t size_ = 0;
};

// A combination is legal if a case can have it for which the oracle takes at most half a second; larger ones are left
// to the training sizes. Such cases are drawn at random, always the same.
SizeCombinations legal_size_combinations(backgauge_op op, const Dtypes& dtypes, int strength);

}  // namespace backgauge
