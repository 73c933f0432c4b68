// SPDX-License-Identifier: Apache-2.0
// The kinds of failure of a run, and how they are printed: one small case of each of the most common, the rest by name.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "properties/judge/record/record.h"

namespace backgauge::cli {

// What failed for one reason: of an op, the first bad tensor and the class of its fault, or what was touched or
// answered.
struct FailureKind {
  std::string text;   // "lstm_block_cell_grad wcf_grad unwritten"
  std::size_t index;  // the first case, in the plan
  std::size_t cases = 0;
  bool of_harness = false;  // BROKEN by the machine or the harness, or not run: no call to look into
};

class FailureKinds {
 public:
  void add(std::size_t index, const Record& record);
  const std::vector<FailureKind>& in_order() const { return kinds_; }  // of their first cases

 private:
  std::vector<FailureKind> kinds_;
};

// What represents a kind: the simplest record of it that was found, and the search for it ("shrunk in 143 runs,
// 2.1 s", or "").
struct ShownFailure {
  Record record;
  std::string effort;
};

// Printed with a case: with the heading, the table of ops and the totals they fit on a screen of 45 lines.
inline constexpr std::size_t kMostKindsShown = 4;

// Prints the kinds, the commonest first: `most` of them with what `look` gives, which is asked of every kind, the
// others by name in one line. `impl_given`: how the user named the implementation, quoted for a shell; "": by its own
// name.
void print_failures(const FailureKinds& kinds, std::size_t most,
                    const std::function<ShownFailure(const FailureKind&)>& look, const std::string& impl_given);

}  // namespace backgauge::cli
