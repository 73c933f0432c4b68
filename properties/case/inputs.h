// SPDX-License-Identifier: Apache-2.0
// From a case to its inputs: every value is a function of (seed, tensor name, index), the same bits on any compiler.
#pragma once

#include <string>

#include "properties/case/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// What the generator knows of the values it made; the judge never guesses it.
struct DataFacts {
  bool structured = false;       // few distinct values: roundings are not independent
  bool consistent_saved = true;  // saved tensors come from a forward pass, and co == tanh(cs) at every step, cs intact
  bool nonfinite = false;        // NaN or Inf in elements that are read

  bool operator==(const DataFacts&) const = default;
};

struct Filled {
  Problem
      problem;  // without output, output_h, output_c and reserve_space: the forward of the implementation makes them
  DataFacts facts;
  std::uint16_t checksum = 0;
  std::string error;  // not empty: golden file unreadable, checksum differs, call refused by the contract, too large
};

Filled fill(const Case& c);

// Masks for a CudnnRNNBackprop problem with 0 < dropout < 1 and none yet: what a program that has no masks of its own
// is given. Elsewhere nothing happens.
void draw_dropout_masks(const Case& c, Problem& problem);

// Of shapes and elements of the inputs in the order of the table, as they lie in memory.
std::uint16_t checksum_of(const Problem& problem);

// A tensor of more than 2^24 elements holds only those that are read: `values` ends with them, and the rest of its
// memory is mapped, zero and never made. So a call may span more than 2^31 elements on any machine.

// The problem of a case with all inputs that fill() gives, in their shapes and without values.
Problem shaped_problem(const Case& c);

}  // namespace backgauge
