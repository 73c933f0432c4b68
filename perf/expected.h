// SPDX-License-Identifier: Apache-2.0
// What is right for one workload, asked of the oracle once and then given to everybody who asks the same: it takes
// longer than most of what is timed.
#pragma once

#include <list>
#include <vector>

#include "reference/oracle.h"

namespace backgauge {

class Expected {
 public:
  // As oracle() says. The problems differ in their op and dropout masks only: those of one workload.
  std::vector<Wanted> operator()(const Problem& problem, const Declared& declared, RoundingErrors roundings);

 private:
  struct Answer {
    backgauge_op op;
    std::vector<std::vector<std::uint8_t>> keep;
    Declared declared;
    RoundingErrors roundings;
    std::vector<Wanted> wanted;
  };
  std::list<Answer> answers_;
};

}  // namespace backgauge
