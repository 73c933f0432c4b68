// SPDX-License-Identifier: Apache-2.0
#include "ci/options/declaration.h"

#include <fmt/format.h>

#include "ci/options/command_error.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cli {

Declared DeclarationOptions::declared() const {
  const std::int32_t half = enumerator_of(accuracy_class_word, half_class);
  if (half == 0) {
    throw CommandError{kUsage,
                       fmt::format("--half-class={}: expected one of {}", half_class, words_in(accuracy_class_word))};
  }
  const std::int32_t products = enumerator_of(numerical_contract_word, contract);
  if (products == 0) {
    throw CommandError{kUsage,
                       fmt::format("--contract={}: expected one of {}", contract, words_in(numerical_contract_word))};
  }
  return {.accuracy_class = static_cast<backgauge_accuracy_class>(half),
          .numerical_contract = static_cast<backgauge_numerical_contract>(products),
          .recomputes_co = recomputes_co};
}

void add_declaration_options(Subcommand& command, DeclarationOptions& options) {
  command.option(
      "--half-class", options.half_class,
      "which values are rounded to half or bfloat16: A (outputs), A' (also carried values) or B (every result)");
  command.option("--contract", options.contract,
                 "how matrix products are computed: fp32_strict, fp32_tf32, bf16_acc32, fp16_acc32 or fp32_3xtf32");
  command.flag("--recomputes-co", options.recomputes_co,
               "the program computes tanh(cs) instead of reading the saved co");
}

}  // namespace backgauge::cli
