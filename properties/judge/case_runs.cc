// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/case_runs.h"

#include <fmt/format.h>

#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/dropout_masks.h"
#include "properties/judge/variation.h"

namespace backgauge {
namespace {

// Runs the forward, and determines whether its masks are available.
std::optional<Verdict> make_forward(CaseSession& session, CaseRuns& runs) {
  const backgauge_op op = session.problem().op;
  if (session.runner().table().forward == nullptr) {
    return failed(fmt::format("claims {}, but has no forward function", find_op(op)->tensorflow));
  }
  runs.forward = session.forward(runs.options);
  if (auto verdict = verdict_of_failed_run(runs.forward)) return verdict;
  const DropoutMasks masks = session.dropout_masks(runs.options);
  runs.masks_available = !masks.unavailable();
  return judge_dropout_masks(session, masks, runs.options);
}

// Both calls must be prepared for the same reserve_space.
std::optional<Verdict> other_reserve_space(const CaseSession& session, const RunResult& gradient) {
  if (!gradient.broken.empty()) return std::nullopt;
  for (const RawTensor& tensor : session.made()) {
    if (tensor.name != "reserve_space" || tensor.shape[0] == gradient.reserve_length) continue;
    return failed(
        fmt::format("prepare asked for a reserve_space of {} elements for the forward and {} for the gradient",
                    tensor.shape[0], gradient.reserve_length));
  }
  return std::nullopt;
}

}  // namespace

CaseRuns make_runs(CaseSession& session, std::uint64_t seed, std::int32_t num_threads) {
  CaseRuns runs;
  RunOptions& first = runs.options;
  first.num_threads = num_threads;
  first.placement = Placement(seed);
  if (session.has_forward()) {
    runs.verdict = make_forward(session, runs);
    if (runs.verdict) return runs;
  }
  runs.first = session.gradient(first);
  runs.failure = other_reserve_space(session, runs.first);
  if (!runs.failure) runs.failure = verdict_of_failed_run(runs.first);
  if (runs.failure) return runs;

  RunOptions second = first;
  second.placement = first.placement.opposite();
  second.workspace_fill = RunOptions::kFiniteFill;
  second.finite_outputs = true;
  if (session.claims()->determinism[session.problem().dtype] == BACKGAUGE_BITWISE)
    second.num_threads = other_thread_count(seed, num_threads);
  runs.second = session.gradient(second);

  const OpSpec& spec = *find_op(session.problem().op);
  RunOptions shared = first;
  shared.shared_outputs = drawn_shared_outputs(spec, seed);
  if (shared.shared_outputs.empty()) return runs;
  runs.shared = session.gradient(shared);
  runs.sharing = sharing_text(spec, shared.shared_outputs);
  return runs;
}

}  // namespace backgauge
