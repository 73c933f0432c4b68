// SPDX-License-Identifier: Apache-2.0
// The inputs of one call of an implementation, and its results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/judge/memory/placement.h"
#include "reference/contract/call.h"

namespace backgauge {

// A tensor as bytes in memory, in the problem's dtype. reserve_space is only ever handled like this.
struct RawTensor {
  std::string name;
  Shape shape;
  std::vector<std::byte> bytes;
};

struct RunOptions {
  std::int32_t num_threads = 1;
  Placement placement{0};
  std::byte workspace_fill = kNanFill;
  bool finite_outputs = false;                // outputs start as finite numbers instead of poison
  std::vector<std::string> changed_inputs{};  // inputs that the implementation may write
  std::vector<std::string> shared_outputs{};  // outputs in the memory of the input that the op's table names for them

  // Bits that are all 1 are a NaN in every format: a result computed from an unwritten workspace is then a NaN. Bytes
  // that are small finite numbers in every format show the same for code that drops NaNs (a maximum, a comparison).
  static constexpr std::byte kNanFill{0xff}, kFiniteFill{0x3c};

  // 2.1, 3 or 33, depending on the format: small enough that a value added to it is not lost in rounding.
  static constexpr std::byte kFiniteOutput{0x40};
};

struct Output {
  RawTensor raw;
  std::vector<double> values;           // decoded; empty for reserve_space, which is opaque
  std::vector<std::uint8_t> unwritten;  // per element, known only where poison was; empty for reserve_space
};

struct RunResult {
  backgauge_status status = BACKGAUGE_INTERNAL;
  std::string function{};  // that returned last: prepare, run, forward, dropout_mask
  std::string message{};
  std::vector<Output> outputs{};          // empty if prepare did not succeed
  std::vector<std::string> violations{};  // of rules about memory and exceptions, and plans that cannot be met
  std::int64_t reserve_length = 0;        // in elements, as returned by prepare
  std::string broken{};                   // why the call has no answer: "crash: SIGSEGV in run"; "" if it has one
};

// The answer of an implementation that is asked for the dropout masks of a stacked op's problem:
// keep[gap] [T, B, D*H], or why not in `result`.
struct DropoutMasks {
  RunResult result;
  std::vector<std::vector<std::uint8_t>> keep;

  // The implementation answered, without a fault, that it cannot report masks for this call.
  bool unavailable() const {
    return result.violations.empty() && result.broken.empty() && result.function == "dropout_mask" &&
           result.status == BACKGAUGE_UNSUPPORTED;
  }
};

}  // namespace backgauge
