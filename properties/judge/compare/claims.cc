// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "properties/device/runtime.h"

namespace backgauge {

std::optional<Claims> claims_of(const backgauge_implementation& implementation, backgauge_op op) {
  const std::span tables(implementation.claims, static_cast<std::size_t>(implementation.num_claims));
  const auto found = std::ranges::find(tables, std::int32_t{op}, &backgauge_op_claims::op);
  if (found == tables.end()) return std::nullopt;
  std::string refusal;
  std::optional<Claims> claims = read_claims(*found, refusal);
  if (!claims) throw std::invalid_argument(fmt::format("{}: {}", implementation.name, refusal));
  return claims;
}

std::string lack_of_device(const backgauge_implementation& implementation) {
  return implementation.memory_space == BACKGAUGE_CUDA ? device::absence() : "";
}

std::string unclaimed(const std::optional<Claims>& claims, const Problem& problem, const DataFacts& facts) {
  if (!claims) return fmt::format("{} is not claimed", spec_of(problem.op).tensorflow);
  if (claims->takes(problem.dtype)) {
    std::string reason = undecidable(declared(*claims, problem.dtype), facts);
    if (!reason.empty()) return reason;
  }
  return unclaimed_call(*claims, problem.dtype, problem.attributes, problem.extents);
}

std::string why_masks_unavailable(const backgauge_implementation& implementation, const Problem& problem) {
  if (!has_random_dropout(problem) || implementation.dropout_mask != nullptr) return "";
  return "dropout between 0 and 1, and the implementation does not report its masks";
}

std::string undecidable(const Declared& declared, const DataFacts& facts) {
  if (declared.computes_co() && !facts.consistent_saved) {
    return "the implementation recomputes co, and the saved co differs from tanh(cs)";
  }
  if (declared.recomputes_forward && !facts.training) {
    return "the implementation recomputes the saved tensors, and the case is not one of data=training without clipping";
  }
  return "";
}

bool has_random_dropout(const Problem& problem) { return has_random_dropout(problem.attributes, problem.extents); }

}  // namespace backgauge
