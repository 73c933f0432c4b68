// SPDX-License-Identifier: Apache-2.0
// Law: T steps with seq_len_max S give the same as S steps alone, with zeros in x_grad after them.
// Kind: within the bounds of both sides; the zeros exactly.
// Catches: a recurrence that starts at T, steps after S read or summed, a tail that is not cleared, strides computed
// from S instead of T.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/transform.h"

namespace backgauge {
namespace truncates_at_seq_len_max_law {
namespace {

Case about(Case c) {
  c = with_finite_values(c);
  c.T = std::max<std::int64_t>(c.T, 2);
  c.seq_len_max = std::min(c.seq_len_max, c.T - 1);
  return c;
}

Problem truncated(Problem problem) {
  const std::int64_t S = problem.extents.S;
  for (Tensor& tensor : problem.inputs) {
    const auto axis = dimension(problem.op, tensor.name, "T");
    if (axis) tensor = select(tensor, part(tensor.shape, *axis, 0, S));
  }
  problem.extents.T = S;
  return problem;
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  const auto& [problem, facts, checksum, error] = filled(c);
  const auto all = bounded_answer(implementation, problem, facts);
  const auto alone = bounded_answer(implementation, truncated(problem), facts);
  Agreement agreement(implementation, c);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto axis = dimension(c.op, all[k].name, "T");
    if (!axis) {
      agreement.expect(all[k], alone[k]);
      continue;
    }
    const Wanted zeros = zeros_like(select(all[k], part(all[k].shape, *axis, c.seq_len_max, c.T)));
    agreement.expect(all[k], joined(alone[k], zeros, *axis));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace truncates_at_seq_len_max_law

Law truncates_at_seq_len_max() {
  using namespace truncates_at_seq_len_max_law;
  return {"M7",
          "TruncatesAtSeqLenMax",
          "T steps with seq_len_max S are S steps alone, with zeros in x_grad after them",
          ops_with_seq_len_max,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
