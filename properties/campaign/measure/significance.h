// SPDX-License-Identifier: Apache-2.0
// Measures whether cases would reveal a missing term of the equations: for each additive term, the largest |term| / E
// in a case, where E bounds the error of the sum that contains the term. A term far above its E cannot be missing
// unnoticed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// By the names of reference/arithmetic/named_terms.h. On input a complete problem, as for the oracle.
std::map<std::string, double> term_significance(const Problem& problem);

// A campaign covers a term that is this many times its E in this many cases.
inline constexpr double kSignificant = 100;
inline constexpr int kEnoughCases = 30;

struct TermCoverage {
  struct Term {
    std::string name;
    int cases = 0;  // in which it is significant
  };
  std::vector<Term> terms;  // by name
  int evaluated = 0;        // number of cases; the rest is left out once all terms have enough

  int shown() const;            // terms with enough cases
  const Term* weakest() const;  // nullptr if there is none
};
TermCoverage term_coverage(backgauge_op op, backgauge_dtype dtype, const std::vector<Case>& cases);

}  // namespace backgauge
