// SPDX-License-Identifier: Apache-2.0
// State that an implementation keeps between calls: a walk through a few configurations in one process, each of which
// must give the same bits every time it comes again, whatever came before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/case/case.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

// Different in op, dtype, size and flags. Every fourth is the one before with other values, for what is kept by shape
// or by address.
std::vector<Case> walk_configurations(const std::vector<backgauge_op>& ops, int count, std::uint64_t seed);

// Numbers below `count` in an order in which each is followed by each other one once, count * (count - 1) + 1 in all,
// and then back and forth (A, B, A) between random ones until there are `length`. count >= 2.
std::vector<int> walk_order(int count, int length, std::uint64_t seed);

struct WalkOptions {
  std::vector<backgauge_op> ops;
  std::uint64_t seed = 1;
  int configurations = 40;  // 1560 ordered pairs
  int calls = 2000;         // of gradients; CudnnRNNBackprop has a forward before each
  std::int32_t num_threads = 1;
};

struct Walk {
  int configurations = 0;  // that the implementation claims
  int calls = 0;
  int pairs = 0;               // ordered, of different configurations that came one after the other
  bool bits_compared = false;  // not if NOT_DETERMINISTIC is claimed
  // What went wrong first, in which case, and the case that was called before it. "" if nothing.
  std::string failure;
  std::optional<Case> failed, before;
};
Walk walk(Runner& runner, const WalkOptions& options);

}  // namespace backgauge
