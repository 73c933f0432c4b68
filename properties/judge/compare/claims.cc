// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/claims.h"

#include <fmt/format.h>

#include "properties/device/runtime.h"

namespace backgauge {
namespace {

// False for a number that is not an enumerator: a call that the contract refuses may hold any.
bool has(std::uint32_t set, std::int32_t enumerator) {
  return enumerator >= 0 && enumerator < 32 && (set & BACKGAUGE_BIT(enumerator)) != 0;
}

}  // namespace

const backgauge_op_claims* claims_of(const backgauge_implementation& implementation, backgauge_op op) {
  for (std::int32_t k = 0; k < implementation.num_claims; ++k) {
    if (implementation.claims[k].op == op) return &implementation.claims[k];
  }
  return nullptr;
}

std::string lack_of_device(const backgauge_implementation& implementation) {
  return implementation.memory_space == BACKGAUGE_CUDA ? device::absence() : "";
}

std::string unclaimed(const backgauge_op_claims* claims, const Problem& problem, const DataFacts& facts) {
  const OpSpec* spec = find_op(problem.op);
  if (claims == nullptr) return fmt::format("{} is not claimed", spec->tensorflow);
  const backgauge_attributes& a = problem.attributes;
  if (!has(claims->dtypes, problem.dtype)) return fmt::format("dtype {} is not claimed", dtype_word(problem.dtype));
  if (std::string reason = undecidable(declared(*claims, problem.dtype), problem, facts); !reason.empty())
    return reason;
  if (!spec->traits.is_stacked) {
    if (has(claims->use_peephole, a.use_peephole)) return "";
    return fmt::format("use_peephole {} is not claimed", a.use_peephole);
  }
  if (!has(claims->rnn_modes, a.rnn_mode)) return fmt::format("rnn_mode {} is not claimed", rnn_mode_word(a.rnn_mode));
  if (!has(claims->input_modes, a.input_mode)) {
    return fmt::format("input_mode {} is not claimed", input_mode_word(a.input_mode));
  }
  if (!has(claims->directions, a.direction)) {
    return fmt::format("direction {} is not claimed", direction_word(a.direction));
  }
  if (claims->no_dropout != 0 && has_random_dropout(problem)) return "dropout between 0 and 1 is not claimed";
  return "";
}

std::string why_masks_unavailable(const backgauge_implementation& implementation, const Problem& problem) {
  if (!has_random_dropout(problem) || implementation.dropout_mask != nullptr) return "";
  return "dropout between 0 and 1, and the implementation does not report its masks";
}

Declared declared(const backgauge_op_claims& claims, backgauge_dtype dtype) {
  std::int32_t accuracy_class = claims.half_class, contract = 0;
  if (dtype == BACKGAUGE_HALF) contract = claims.half_contract;
  if (dtype == BACKGAUGE_BFLOAT16) {
    contract = claims.bfloat16_contract;
    if (claims.bfloat16_class != 0) accuracy_class = claims.bfloat16_class;
  }
  if (contract == 0) contract = claims.numerical_contract;
  return {.accuracy_class = static_cast<backgauge_accuracy_class>(accuracy_class),
          .numerical_contract = static_cast<backgauge_numerical_contract>(contract),
          .recomputes_co = claims.recomputes_co};
}

std::string undecidable(const Declared& declared, const Problem& problem, const DataFacts& facts) {
  if (!traits_of(problem.op).takes_saved || declared.recomputes_co == 0) return "";
  if (!facts.consistent_saved) return "the implementation recomputes co, and the saved co differs from tanh(cs)";
  constexpr std::int32_t kEverything = 2;
  if (declared.recomputes_co == kEverything && !facts.training) {
    return "the implementation recomputes the saved tensors, and the case is not one of data=training without "
           "clipping";
  }
  return "";
}

bool has_random_dropout(const Problem& problem) {
  const float dropout = problem.attributes.dropout;
  return find_op(problem.op)->traits.is_stacked && problem.extents.L > 1 && dropout > 0 && dropout < 1;
}

}  // namespace backgauge
