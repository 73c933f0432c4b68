// SPDX-License-Identifier: Apache-2.0
// Judges outputs that any other program has made and stored, by the rules of judge.h as far as values go.
#pragma once

#include <string>
#include <vector>

#include "properties/case/inputs.h"
#include "properties/judge/compare/verdict.h"
#include "reference/oracle.h"

namespace backgauge {

struct GivenTensor {
  std::string name;
  Shape shape;
  backgauge_dtype dtype = BACKGAUGE_FLOAT32;
  std::vector<double> values;  // as many as the shape says
};

// Everything that the op gives; of CudnnRNNBackprop first what its forward gives.
std::vector<Wanted> everything_wanted(const Problem& problem, const DataFacts& facts, const Declared& declared);

// Every wanted tensor must be given, in its shape and in the dtype of the problem; other tensors are not looked at.
Verdict judge_values(const std::vector<Wanted>& wanted, const std::vector<GivenTensor>& given, const Problem& problem,
                     const Declared& declared);

// The verdict on outputs of a legal problem, with its dropout masks where it has some: SKIPPED where undecidable()
// says so (claims.h), otherwise judge_values() of everything_wanted().
Verdict judge_outputs(const Problem& problem, const DataFacts& facts, const std::vector<GivenTensor>& given,
                      const Declared& declared);

}  // namespace backgauge
