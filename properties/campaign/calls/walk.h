// SPDX-License-Identifier: Apache-2.0
// Detects state that an implementation keeps between calls: a walk through a few configurations in one process, each of
// which must give the same bits at every visit, whatever was called before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

// In each group of four, the third is the second with one property changed, and the fourth is the third with other
// values.
std::vector<Case> walk_configurations(const std::vector<backgauge_op>& ops, int count, std::uint64_t seed);

// Numbers below `count`, in an order in which each is followed once by each other one, count * (count - 1) + 1 in all;
// then back and forth (A, B, A) between random ones, up to `length`. count >= 2.
std::vector<int> walk_order(int count, int length, std::uint64_t seed);

struct WalkOptions {
  std::vector<backgauge_op> ops;
  std::uint64_t seed = 1;
  int configurations = 40;  // 1560 ordered pairs
  int calls = 2000;         // of gradients; for CudnnRNNBackprop a forward precedes each
  std::int32_t num_threads = 1;
};

struct Walk {
  int configurations = 0;  // how many of them the implementation claims
  int calls = 0;
  int pairs = 0;               // ordered pairs of different configurations that followed each other
  bool bits_compared = false;  // false if NOT_DETERMINISTIC is claimed
  // The first failure, its case, and the case called before it. "" if there was none.
  std::string failure;
  std::optional<Case> failed, before;
};
Walk walk(Runner& runner, const WalkOptions& options);

}  // namespace backgauge
