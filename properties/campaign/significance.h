// SPDX-License-Identifier: Apache-2.0
// Whether cases could show that a term of the equations is missing: for each additive term, the largest |term| / E of a
// case, where E bounds the error of the sum that it is a term of. What is far above its E cannot be left out unnoticed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "properties/case/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// By the term's name: "do wco", "cs_grad", "dci w[h]", "last step: x.. di..". Factors stand side by side; dx is what
// holds the slope of x as a factor; "x.." are several things side by side of which x is the first; of params it is the
// block (W, R, bW, bR), of a row of gates the gate. Sums over rows count by step: the first, the last, one between. On
// input a complete problem, as the oracle takes it.
std::map<std::string, double> term_significance(const Problem& problem);

// A campaign shows a term if it is this many times its E in so many cases.
inline constexpr double kSignificant = 100;
inline constexpr int kEnoughCases = 30;

struct TermCoverage {
  struct Term {
    std::string name;
    int cases = 0;  // in which it is significant
  };
  std::vector<Term> terms;  // by name
  int evaluated = 0;        // cases: fewer than there are where all terms have enough early

  int shown() const;            // terms with enough cases
  const Term* weakest() const;  // nullptr if there is none
};
TermCoverage term_coverage(backgauge_op op, backgauge_dtype dtype, const std::vector<Case>& cases);

}  // namespace backgauge
