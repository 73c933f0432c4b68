// SPDX-License-Identifier: Apache-2.0
// The correct outputs of one case: of its gradient, and of the forward that comes before it. Computing them takes
// longer than most calls that are judged, so every result of the oracle is kept.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "properties/case/line/filled.h"
#include "reference/oracle.h"

namespace backgauge {

class ExpectedOutputs {
 public:
  using Oracle = std::function<std::vector<Wanted>(const Problem&, const Declared&, RoundingErrors)>;

  // `facts`: about the inputs of the case. They decide, only here, how its rounding errors are related: where they say
  // nothing and rigorous bounds prove nothing, the values decide (independence.h).
  explicit ExpectedOutputs(const DataFacts& facts, Oracle oracle = backgauge::oracle);

  // The problem has the inputs of the case; its attributes and dropout masks may be others. The outputs are in the
  // order of the op's table. References stay valid as long as this object.
  const std::vector<Wanted>& gradient(const Problem& problem, const Declared& declared);

  // Those of its forward, with the same masks. Throws std::bad_optional_access if the op has no forward.
  const std::vector<Wanted>& forward(const Problem& problem, const Declared& declared);

  // Both, those of the forward first, if the op has one.
  std::vector<Wanted> all(const Problem& problem, const Declared& declared);

  // gradient() with rigorous bounds, whatever the facts are.
  const std::vector<Wanted>& rigorous_gradient(const Problem& problem, const Declared& declared);

  const DataFacts& facts() const { return facts_; }
  RoundingErrors rounding_errors() const;

  // Why the rounding errors of a structured problem do not count as independent where its rigorous bounds prove
  // nothing; "" if they do.
  std::string why_rigorous(const Problem& problem, const Declared& declared) const;

 private:
  struct Question {
    backgauge_op op;
    backgauge_attributes attributes;
    Declared declared;
    RoundingErrors roundings;
    std::vector<std::vector<std::uint8_t>> keep;

    bool operator==(const Question& other) const;
  };
  struct Answer {
    Question question;
    std::vector<Wanted> wanted;
  };

  // `op`: that of the problem, or its forward.
  const std::vector<Wanted>& sharpest(backgauge_op op, const Problem& problem, const Declared& declared);
  const std::vector<Wanted>& answer(backgauge_op op, const Problem& problem, const Declared& declared,
                                    RoundingErrors roundings);

  DataFacts facts_;
  Oracle oracle_;
  std::list<Answer> answers_;
};

}  // namespace backgauge
