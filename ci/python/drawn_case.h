// SPDX-License-Identifier: Apache-2.0
// A case of a tier, drawn in this process: its inputs, and the judge of outputs for them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ci/python/verdict.h"
#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "properties/judge/compare/expected_outputs.h"

namespace backgauge::python {

// What follows throws std::invalid_argument or std::runtime_error with one line. `words`: claims (words.h). The caller
// holds the GIL.

// The lines of a tier for a gradient op that are claimed, in running order, before any redraw; without malformed calls.
std::vector<std::string> planned_lines(const std::string& op, const std::string& tier, std::uint64_t seed,
                                       const nanobind::dict& words);

class DrawnCase {
 public:
  // `redraw`: a line of which correct outputs would prove nothing gets other values, as under `backgauge verify`.
  DrawnCase(const std::string& line, const nanobind::dict& words, bool redraw);

  const std::string& line() const { return line_; }  // with the checksum of the inputs
  std::string op() const;                            // TensorFlow's name
  std::string dtype() const;                         // f16 bf16 f32 f64

  // Why outputs are not judged: they prove nothing even if they are correct. "" if they are.
  const std::string& skip_reason() const { return skip_reason_; }

  nanobind::dict inputs() const;  // name to owned_array(), arrays.h
  nanobind::dict attributes() const;
  nanobind::object dropout_keep() const;
  nanobind::dict forward();  // what the training forward returns, rounded once; empty for ops without one
  nanobind::list oracle();
  nanobind::tuple judge(const nanobind::dict& outputs);

 private:
  Declared declared() const { return backgauge::declared(claims_, case_.dtype); }
  const std::vector<Wanted>& wanted();

  Case case_;
  Filled filled_;
  Claims claims_;
  ExpectedOutputs expected_;
  std::string line_, skip_reason_;
};

}  // namespace backgauge::python
