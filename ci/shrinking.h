// SPDX-License-Identifier: Apache-2.0
// The failures of a run, one of each kind shrunk: told, and stored where --out and --add-regression say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "properties/case/case.h"
#include "properties/judge/record.h"
#include "properties/judge/runner.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cli {

struct ShrunkFailure {
  Record record;       // of the plainest case; shrunk_from is the line it came from, "" where nothing is plainer
  bool flaky = false;  // the case did not fail again when it ran alone
  std::string effort;  // "143 runs, 2.1 s"
};

// On input a failed case and its record.
ShrunkFailure shrink_failure(Runner& runner, const Case& c, const Record& record, int num_threads);

// What the wrong values of the first bad tensor look like (properties/judge/hint.h); "" if like nothing known.
std::string hint_of(Runner& runner, const Case& c, const Verdict& verdict, int num_threads);

// Appends a line to a file of regressions and says so. False where it cannot, which it says on stderr.
bool keep_regression(const std::string& file, const std::string& line);

// The first failure of each kind: of each op, tensor and class of fault.
class FailureKinds {
 public:
  struct Kind {
    std::string text;   // "lstm_block_cell_grad wcf_grad unwritten"
    std::size_t index;  // the first case, in the plan
    std::size_t cases = 0;
  };
  void add(std::size_t index, const Record& record);
  const std::vector<Kind>& kinds() const { return kinds_; }

 private:
  std::vector<Kind> kinds_;
};

}  // namespace backgauge::cli
