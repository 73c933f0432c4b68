// SPDX-License-Identifier: Apache-2.0
// Judges outputs that another program has computed and stored. The rules for values are those of judge.h.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/compare/expected_outputs.h"
#include "properties/judge/compare/verdict.h"

namespace backgauge {

struct GivenTensor {
  std::string name;
  Shape shape;
  backgauge_dtype dtype = BACKGAUGE_FLOAT32;
  std::vector<double> values;  // as many as the shape says
};

// The verdict on outputs of a legal problem; with random dropout, problem.keep holds its masks. SKIPPED if
// undecidable() gives a reason (claims.h). Every expected output must be given, with its shape and in the dtype of the
// problem; other tensors are ignored. A program that computes the gradient alone gives none of its forward's outputs,
// and is judged without them; the note says so.
Verdict judge_outputs(ExpectedOutputs& expected, const Problem& problem, const std::vector<GivenTensor>& given,
                      const Declared& declared);

}  // namespace backgauge
