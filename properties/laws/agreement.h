// SPDX-License-Identifier: Apache-2.0
// Whether two sides of a law agree, each with how far it may be from the truth that both approximate.
#pragma once

#include <string_view>

#include "properties/laws/law.h"
#include "reference/oracle.h"

namespace backgauge {

class Agreement {
 public:
  Agreement(backgauge_dtype dtype, const Declared& declared) : dtype_(dtype), declared_(declared) {}
  Agreement(const backgauge_implementation& implementation, const Case& c);

  // Each value of `got` must be as far from that of `expected` at most as both `allowed` together; with 0, equal, where
  // zeros have no sign. What was got is compared as a double. Throws std::logic_error for different shapes.
  void expect(const Wanted& got, const Wanted& expected);

  // Broken if an expectation was not met, and how; says nothing if an output is vacuous (resolution.h) or none was
  // expected.
  Finding finding() const;

 private:
  backgauge_dtype dtype_;
  Declared declared_;
  std::string broken_{}, vacuous_{};
  int expectations_ = 0;
};

}  // namespace backgauge
