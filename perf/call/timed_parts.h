// SPDX-License-Identifier: Apache-2.0
// Times calls into an implementation in another language.
#pragma once

#include <cstdint>
#include <functional>

#include "reference/contract/backgauge.h"

namespace backgauge {

// An op may be staged: then a call has three parts, of which `run` alone is timed. `prepare` is what the caller of a
// framework has done before a gradient is due (its own forward, weights in its layout), and `finish` puts results into
// the layout of the op. The function `run` of the table does all three parts, and is what is judged. All functions are
// called by one thread, with a call that the table's `prepare` has accepted.
class TimedParts {
 public:
  virtual ~TimedParts() = default;

  virtual bool is_staged(std::int32_t op) const = 0;

  // The parts of a call of a staged op, called once each and in this order.
  virtual backgauge_status prepare(const backgauge_call* call, backgauge_message* message) = 0;
  virtual backgauge_status run(const backgauge_call* call, backgauge_message* message) = 0;
  virtual backgauge_status finish(const backgauge_call* call, backgauge_message* message) = 0;

  // The cost of a call that computes nothing, for any op: after one prepare_nothing(), run_nothing() may be called any
  // number of times, and does what is timed of a call, around a function that does nothing.
  virtual backgauge_status prepare_nothing(const backgauge_call* call, backgauge_message* message) = 0;
  virtual backgauge_status run_nothing(const backgauge_call* call, backgauge_message* message) = 0;
};

// Finds the parts of an open implementation; nullptr if its `run` is timed as a whole, and costs nothing to call.
using FindTimedParts = std::function<TimedParts*()>;

}  // namespace backgauge
