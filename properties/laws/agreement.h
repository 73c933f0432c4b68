// SPDX-License-Identifier: Apache-2.0
// Compares the two sides of a law. Each side has a bound on its distance from the exact value that both approximate.
#pragma once

#include <string_view>

#include "properties/laws/law.h"
#include "reference/oracle.h"

namespace backgauge {

class Agreement {
 public:
  Agreement(backgauge_dtype dtype, const Declared& declared) : dtype_(dtype), declared_(declared) {}
  Agreement(const backgauge_implementation& implementation, const Case& c);

  // Each value of `got` may differ from that of `expected` by at most the sum of both `allowed`; if that is 0 they must
  // be equal, and the sign of a zero does not matter. `got` is compared as a double. Throws std::logic_error if the
  // shapes differ.
  void expect(const Wanted& got, const Wanted& expected);

  // Broken if an expectation was not met, with the reason; inconclusive if an output is vacuous (compare.h) or
  // nothing was compared.
  Finding finding() const;

 private:
  backgauge_dtype dtype_;
  Declared declared_;
  std::string broken_{}, vacuous_{};
  int expectations_ = 0;
};

}  // namespace backgauge
