// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/op_determinism.h"

#include <fmt/format.h>

#include "reference/contract/op_spec.h"

namespace backgauge::cli {

std::string OpDeterminism::text() const {
  std::string out =
      fmt::format("  {:<21} {:<21} claimed {}, {} cases, {} runs{}\n", find_op(op)->word, determinism_word(measured),
                  backgauge::determinism_word(std::int32_t{claimed}), cases, runs, overclaimed() ? ": FAILED" : "");
  if (!difference.empty()) out += "    " + difference + "\n";
  return out;
}

}  // namespace backgauge::cli
