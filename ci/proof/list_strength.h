// SPDX-License-Identifier: Apache-2.0
// Counts the known-wrong implementations that fail a list of cases, such as a mustpass list of `backgauge conform`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge::cli {

struct CaseList {
  std::string name;
  backgauge_op op;
  backgauge_dtype dtype;
  std::vector<Case> cases;  // all of this op and dtype
};

struct ListStrength {
  std::string name;
  std::size_t lines = 0;
  std::size_t saboteurs = 0;          // that claim the op and dtype of the list
  std::vector<std::string> living{};  // ids of the saboteurs that fail no line
};

struct StrengthOptions {
  int workers = 2;
  std::string only{};  // only saboteurs whose ids begin with this; "": all
  std::function<void(const std::string& phase, std::size_t done, std::size_t total)> progress;
};

// One of each list, in their order; fewer if interrupted.
std::vector<ListStrength> strength_of(const std::vector<CaseList>& lists, const StrengthOptions& options);

// A table, and the ids of the saboteurs that were not found.
std::string strength_text(const std::vector<ListStrength>& lists);

}  // namespace backgauge::cli
