// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/case_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/case/line/random.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/dropout_masks.h"

namespace backgauge {
namespace {

// The differences between the runs are drawn from the seed of the case, so that the case line is enough to repeat them.

// 1, 2, 3, 4, 5, 7, 8 or 16 threads, but not `first`: a single one, even and odd splits of most sizes, more threads
// than some dimensions have elements, and the powers of two that are used most.
std::int32_t other_thread_count(std::uint64_t seed, std::int32_t first) {
  std::vector<std::int32_t> counts = {1, 2, 3, 4, 5, 7, 8, 16, 33};
  std::erase(counts, first);
  return counts[RandomStream(seed, "threads").choice(0, static_cast<std::int64_t>(counts.size()))];
}

std::vector<const TensorSpec*> sharing(const OpSpec& spec) {
  std::vector<const TensorSpec*> out;
  for (const TensorSpec& output : spec.outputs) {
    if (!output.alias.empty()) out.push_back(&output);
  }
  return out;
}

// Outputs that share memory with the input that the table of the op names for them: one such output, or all of them.
// Empty if the op has none.
std::vector<std::string> drawn_shared_outputs(const OpSpec& spec, std::uint64_t seed) {
  const std::vector<const TensorSpec*> all = sharing(spec);
  const auto count = static_cast<std::int64_t>(all.size());
  const std::int64_t which = RandomStream(seed, "shared_outputs").choice(0, count + 1);
  std::vector<std::string> out;
  for (std::int64_t k = 0; k < count; ++k) {
    if (which == count || which == k) out.emplace_back(all[static_cast<std::size_t>(k)]->name);
  }
  return out;
}

// "with cs_prev_grad in the memory of cs_grad": how a call with these shared outputs differs from others.
std::string sharing_text(const OpSpec& spec, const std::vector<std::string>& outputs) {
  std::string out;
  for (const TensorSpec* output : sharing(spec)) {
    if (std::ranges::find(outputs, output->name) == outputs.end()) continue;
    out.append(out.empty() ? "with " : ", ").append(output->name).append(" in the memory of ").append(output->alias);
  }
  return out;
}

bool has_nan(const Output& output) {
  return std::ranges::any_of(output.values, [](double value) { return std::isnan(value); });
}

// Runs the forward, and determines whether its masks are available.
std::optional<Verdict> make_forward(CaseSession& session, CaseRuns& runs) {
  const backgauge_op op = session.problem().op;
  if (session.runner().table().forward == nullptr) {
    return failed(fmt::format("claims {}, but has no forward function", find_op(op)->tensorflow));
  }
  runs.forward = session.forward(runs.options);
  if (auto verdict = verdict_of_failed_run(runs.forward)) return verdict;
  if (std::ranges::any_of(runs.forward.outputs, has_nan)) {
    RunOptions again = runs.options;
    again.finite_outputs = true;
    runs.forward_again = session.repeat_forward(again);
    if (auto verdict = verdict_of_failed_run(*runs.forward_again)) return verdict;
  }
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
  runs.options = {.num_threads = num_threads, .placement = Placement(seed)};
  const RunOptions& first = runs.options;
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
  const bool succeeded = !verdict_of_failed_run(*runs.shared);
  if (succeeded && !first_difference(runs.first.outputs, runs.shared->outputs).empty()) {
    runs.again.push_back(session.gradient(first));
    runs.again.push_back(session.gradient(shared));
  }
  return runs;
}

}  // namespace backgauge
