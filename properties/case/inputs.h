// SPDX-License-Identifier: Apache-2.0
// The inputs of a case. Every value is a function of (seed, tensor name, index), with the same bits on any compiler.
#pragma once

#include <string>

#include "properties/case/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// Facts about the values that the generator has made. The judge never guesses them from the values.
struct DataFacts {
  bool structured = false;       // few distinct values, so that rounding errors are not independent
  bool consistent_saved = true;  // saved tensors come from a forward pass, and co == tanh(cs) at every step, cs intact
  bool nonfinite = false;        // NaN or Inf in elements that are read
  bool training = false;         // all tensors are those of a training step without clipping, what is not read included

  bool operator==(const DataFacts&) const = default;
};

struct Filled {
  Problem problem;  // without output, output_h, output_c and reserve_space, which the implementation's forward computes
  DataFacts facts;
  std::uint16_t checksum = 0;
  std::string error;  // not empty: golden file unreadable, checksum differs, call refused by the contract, too large
};

Filled fill(const Case& c);

// Draws masks for a CudnnRNNBackprop problem with 0 < dropout < 1 that has none yet, for programs that do not draw
// masks themselves. Does nothing for other problems.
void draw_dropout_masks(const Case& c, Problem& problem);

// A checksum of the shapes and elements of the inputs, in the order of the table and as stored in memory.
std::uint16_t checksum_of(const Problem& problem);

// A tensor of more than 2^24 elements holds only those that are read: `values` ends with them, and the rest of its
// memory is mapped as zeros and never allocated. So a call may span more than 2^31 elements on any machine.

// The problem of a case with the shapes of all inputs that fill() draws, without values.
Problem shaped_problem(const Case& c);

}  // namespace backgauge
