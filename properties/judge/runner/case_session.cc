// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/case_session.h"

#include <algorithm>

#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "reference/oracle.h"

namespace backgauge {

CaseSession::CaseSession(Runner& runner, const Problem& problem, const DataFacts& facts)
    : runner_(runner),
      problem_(problem),
      claims_(claims_of(runner.table(), problem.op)),
      unclaimed_(backgauge::unclaimed(claims_, problem, facts)) {}

Declared CaseSession::declared() const { return backgauge::declared(*claims_, problem_.dtype); }

bool CaseSession::repeats() const { return claims_->determinism[problem_.dtype] != BACKGAUGE_NOT_DETERMINISTIC; }

bool CaseSession::draws_masks() const { return has_random_dropout(problem_); }

bool CaseSession::changes_masks() const { return draws_masks() && claims_->dropout_has_state[problem_.dtype]; }

const Problem& CaseSession::forward_problem() {
  if (!forward_problem_) forward_problem_ = backgauge::forward_problem(problem_);
  return *forward_problem_;
}

RunResult CaseSession::forward(const RunOptions& options) {
  RunResult result = repeat_forward(options);
  made_.clear();
  for (const Output& output : result.outputs) made_.push_back(output.raw);
  return result;
}

RunResult CaseSession::repeat_forward(const RunOptions& options) { return runner_.run(forward_problem(), {}, options); }

DropoutMasks CaseSession::dropout_masks(const RunOptions& options) {
  DropoutMasks masks;
  masks.result.function = "dropout_mask";
  masks.result.status = draws_masks() ? BACKGAUGE_UNSUPPORTED : BACKGAUGE_OK;
  if (!draws_masks()) return masks;
  if (runner_.table().dropout_mask == nullptr) {
    masks.result.message = "the implementation has no dropout_mask function";
    return masks;
  }
  masks = runner_.dropout_masks(problem_, made_, options);
  if (verdict_of_failed_run(masks.result)) return masks;
  if (!with_masks_) with_masks_ = problem_;
  with_masks_->keep = masks.keep;
  return masks;
}

RunOptions CaseSession::gradient_options(RunOptions options) const {
  if (claims_->changes_reserve_space[problem_.dtype]) options.changed_inputs.emplace_back("reserve_space");
  return options;
}

RunResult CaseSession::gradient(const RunOptions& options) {
  return runner_.run(problem_, made_, gradient_options(options));
}

CaseOutputs CaseSession::run_all(const RunOptions& options) {
  CaseOutputs out;
  const auto take = [&](RunResult result) {
    out.failure = verdict_of_failed_run(result);
    for (Output& output : result.outputs) {
      if (output.raw.name != "reserve_space") out.outputs.push_back(std::move(output));
    }
    return !out.failure;
  };
  if (has_forward()) {
    if (!take(forward(options))) return out;
    const DropoutMasks masks = dropout_masks(options);
    if (masks.unavailable()) {
      out.masks_unavailable = masks.result.message;
      return out;
    }
    out.failure = verdict_of_failed_run(masks.result);
    if (out.failure) return out;
  }
  if (!take(gradient(options))) return out;
  for (const Output& output : out.outputs) {
    if (std::ranges::find(output.unwritten, 1) == output.unwritten.end()) continue;
    out.failure = failed("left elements of " + output.raw.name + " unwritten");
    break;
  }
  return out;
}

}  // namespace backgauge
