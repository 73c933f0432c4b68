// SPDX-License-Identifier: Apache-2.0
// The kinds of failure of a run, and how they are printed: one small case of each of the most common kinds; the others
// are only named.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "properties/judge/record/record.h"

namespace backgauge::cli {

// Failures of one op that share a cause: the first wrong tensor and how it is wrong, the violated rule, or the status
// that a call returned.
struct FailureKind {
  std::string text;   // "lstm_block_cell_grad wcf_grad unwritten"
  std::size_t index;  // index of its first case in the plan
  std::size_t cases = 0;
  bool of_harness = false;  // BROKEN by the machine or the harness, or not run: there is no call to examine
};

class FailureKinds {
 public:
  void add(std::size_t index, const Record& record);                   // ignores waived failures
  const std::vector<FailureKind>& in_order() const { return kinds_; }  // ordered by their first cases

 private:
  std::vector<FailureKind> kinds_;
};

// The representative of a kind: the simplest record that was found, and how it was found ("shrunk in 143 runs, 2.1 s",
// or "").
struct ShownFailure {
  Record record;
  std::string effort;
};

// The number of kinds printed with a case. With the heading, the table of ops and the totals they fit on 45 lines.
inline constexpr std::size_t kMostKindsShown = 4;

// Prints the kinds, the most common first: `most` of them with the representative that `look` returns, the others by
// name in one line. `look` is called for every kind. `impl_given`: how the user named the implementation, quoted for a
// shell;
// "": its own name is printed.
void print_failures(const FailureKinds& kinds, std::size_t most,
                    const std::function<ShownFailure(const FailureKind&)>& look, const std::string& impl_given);

}  // namespace backgauge::cli
