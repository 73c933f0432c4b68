// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/judge.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "properties/device/runtime.h"
#include "properties/judge/adjoint/adjoint.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "properties/judge/dropout_seeds.h"
#include "properties/judge/variation.h"

namespace backgauge {
namespace {

class Judge {
 public:
  Judge(Runner& runner, const backgauge_op_claims& claims, backgauge_dtype dtype, const DataFacts& facts,
        const JudgeOptions& options)
      : runner_(runner),
        claims_(claims),
        own_expected_(facts),
        expected_(options.expected != nullptr ? *options.expected : own_expected_),
        seed_(options.seed),
        declared_(declared(claims, dtype)) {
    first_.num_threads = options.num_threads;
    first_.placement = Placement(options.seed);
    if (claims.changes_reserve_space != 0) first_.changed_inputs = {"reserve_space"};
    second_ = first_;
    second_.placement = first_.placement.opposite();
    second_.workspace_fill = RunOptions::kFiniteFill;
    second_.finite_outputs = true;
    if (claims.determinism == BACKGAUGE_BITWISE) {
      second_.num_threads = other_thread_count(options.seed, options.num_threads);
    }
    shared_ = first_;
    shared_.shared_outputs = drawn_shared_outputs(*find_op(claims.op), options.seed);
  }

  Verdict refusal(const Problem& problem) const {
    if (traits_of(problem.op).forward) {
      const Problem forward = forward_problem(problem);
      if (!refusal_of(forward).empty() && runner_.table().forward != nullptr) {
        if (Verdict verdict = refused_call(forward); verdict.status != Status::kPassed) return verdict;
      }
    }
    return refused_call(problem);
  }

  Verdict gradient(const Problem& problem) const { return compare(problem, run_all(problem, {})); }

  Verdict rnn(Problem problem) const {
    if (runner_.table().forward == nullptr) return failed("claims CudnnRNNBackprop, but has no forward function");
    const Problem forward = forward_problem(problem);
    const RunResult made = runner_.run(forward, {}, first_);
    if (auto verdict = verdict_of_failed_run(made)) return *verdict;
    std::vector<RawTensor> raw;
    for (const Output& output : made.outputs) raw.push_back(output.raw);

    bool masks_available = true;
    if (auto verdict = ask_for_masks(problem, raw, masks_available)) return *verdict;
    if (has_random_dropout(problem)) {
      if (!masks_available && claims_.dropout_has_state != 0) {
        return {Status::kSkipped, fmt::format("{}, and are not available", kMasksWithState), {}};
      }
      if (auto verdict = judge_seeds(problem, masks_available)) return *verdict;
    }
    const Runs runs = run_all(problem, raw);
    if (!masks_available) return without_masks(problem, forward, made, runs);
    Verdict verdict =
        conclude(compare_outputs(made.outputs, expected_.forward(problem, declared_), forward, declared_));
    if (verdict.status == Status::kFailed) return verdict;

    Verdict backward = compare(problem, runs);
    if (backward.tensors.empty()) return backward;  // nothing was compared; the reason says why
    verdict.tensors.insert(verdict.tensors.end(), backward.tensors.begin(), backward.tensors.end());
    verdict = conclude(std::move(verdict.tensors));
    if (claims_.dropout_has_state != 0 && has_random_dropout(problem)) {
      verdict.note = std::string(kMasksWithState) + (verdict.note.empty() ? "" : "; ") + verdict.note;
    }
    return verdict;
  }

 private:
  struct Runs {
    std::optional<Verdict> failure;  // of the first run
    RunResult first, second;
    std::optional<RunResult> shared;  // with outputs in the memory of inputs, if the op allows that
  };

  // The other runs are made only if the first one succeeded.
  Runs run_all(const Problem& problem, const std::vector<RawTensor>& raw) const {
    Runs runs;
    runs.first = runner_.run(problem, raw, first_);
    for (const RawTensor& tensor : raw) {
      if (!runs.first.broken.empty() || tensor.name != "reserve_space") continue;
      if (tensor.shape[0] == runs.first.reserve_length) continue;
      runs.failure =
          failed(fmt::format("prepare asked for a reserve_space of {} elements for the forward and {} for the gradient",
                             tensor.shape[0], runs.first.reserve_length));
      return runs;
    }
    runs.failure = verdict_of_failed_run(runs.first);
    if (runs.failure) return runs;
    runs.second = runner_.run(problem, raw, second_);
    if (!shared_.shared_outputs.empty()) runs.shared = runner_.run(problem, raw, shared_);
    return runs;
  }

  // The checks that need no mask, and the adjoint identity.
  Verdict without_masks(const Problem& problem, const Problem& forward, const RunResult& made, const Runs& runs) const {
    if (runs.failure) return *runs.failure;
    RunOptions elsewhere = first_;
    elsewhere.placement = first_.placement.opposite();
    const RunResult again = runner_.run(forward, {}, elsewhere);
    if (auto verdict = verdict_of_failed_run(again)) return *verdict;
    const MaskFreeReference known = mask_free_reference(problem, expected_, declared_, seed_);
    Slopes slopes;
    if (known.in_range) slopes = measure_slopes(runner_, problem, made.outputs, declared_, first_, seed_);
    if (slopes.failure) return *slopes.failure;

    const bool repeats = claims_.determinism != BACKGAUGE_NOT_DETERMINISTIC;
    if (const std::string change = changed(made, again, known, repeats, problem.dtype); !change.empty()) {
      return failed("masks that are not available must be the same in every forward of the same call: " + change);
    }
    std::vector<TensorReport> made_reports = compare_outputs(made.outputs, known.forward, forward, declared_);
    const auto judged = [&](const RunResult& result) {
      return judge_along(slopes, problem, result.outputs, known, expected_.rounding_errors(), declared_, made_reports);
    };
    Verdict verdict = judged(runs.first);
    if (verdict.status == Status::kFailed) return verdict;
    for (const RunResult* other : {&runs.second, runs.shared ? &*runs.shared : nullptr}) {
      if (other == nullptr) continue;
      const std::string how = other == &runs.second ? repeats ? "not repeatable" : "second run"
                                                    : sharing_text(*find_op(problem.op), shared_.shared_outputs);
      if (auto wrong = verdict_of_failed_run(*other)) {
        if (other != &runs.second) wrong->reason = how + ": " + wrong->reason;
        return *wrong;
      }
      const std::string difference = first_difference(runs.first.outputs, other->outputs);
      if (difference.empty()) continue;
      if (repeats) return failed(how + ": " + difference);
      Verdict more = judged(*other);
      if (more.status != Status::kFailed) continue;
      more.reason = how + ": " + more.reason;
      return more;
    }
    if (!known.in_range) {
      return {Status::kSkipped,
              "masks not available, and the adjoint identity does not apply: values are not finite or near overflow",
              {}};
    }
    return verdict;
  }

  Verdict compare(const Problem& problem, const Runs& runs) const {
    if (runs.failure) return *runs.failure;
    const std::vector<Wanted>& wanted = expected_.gradient(problem, declared_);
    Verdict verdict = conclude(compare_outputs(runs.first.outputs, wanted, problem, declared_));
    if (verdict.status == Status::kFailed) return verdict;
    if (auto again = verdict_of_failed_run(runs.second)) return *again;
    const bool repeats = claims_.determinism != BACKGAUGE_NOT_DETERMINISTIC;
    Verdict again = compare_again(problem, wanted, runs.first, runs.second, repeats ? "not repeatable" : "second run");
    if (again.status == Status::kFailed || !runs.shared) return again.status == Status::kFailed ? again : verdict;
    const std::string how = sharing_text(*find_op(problem.op), shared_.shared_outputs);
    if (auto shared = verdict_of_failed_run(*runs.shared)) {
      shared->reason = how + ": " + shared->reason;
      return *shared;
    }
    Verdict shared = compare_again(problem, wanted, runs.first, *runs.shared, how);
    return shared.status == Status::kFailed ? shared : verdict;
  }

  // Compares another run of the same problem: equal to the first bit for bit or, if that is not claimed, within bounds.
  Verdict compare_again(const Problem& problem, const std::vector<Wanted>& wanted, const RunResult& first,
                        const RunResult& other, const std::string& how) const {
    const std::string difference = first_difference(first.outputs, other.outputs);
    if (difference.empty()) return {Status::kPassed, "", {}};
    if (claims_.determinism != BACKGAUGE_NOT_DETERMINISTIC) return failed(how + ": " + difference);
    Verdict verdict = conclude(compare_outputs(other.outputs, wanted, problem, declared_));
    if (verdict.status == Status::kFailed) verdict.reason = how + ": " + verdict.reason;
    return verdict;
  }

  Verdict refused_call(const Problem& problem) const {
    const RunResult result = runner_.run(problem, absent_inputs(problem), first_);
    if (!result.violations.empty()) return failed(result.violations.front());
    if (!result.broken.empty()) return {Status::kBroken, result.broken, {}};
    if (result.status == BACKGAUGE_INVALID_ARGUMENT) return {Status::kPassed, "", {}};
    return failed(fmt::format("{} answered {} to a call that must be refused: {}", result.function,
                              call_status_word(result.status), result.refusal));
  }

  // Fills in problem.keep if the correct values depend on the masks and these are available.
  // On output of `masks_available`: whether they are, or do not matter.
  std::optional<Verdict> ask_for_masks(Problem& problem, const std::vector<RawTensor>& raw,
                                       bool& masks_available) const {
    if (!has_random_dropout(problem)) return std::nullopt;
    masks_available = runner_.table().dropout_mask != nullptr;
    if (!masks_available) return std::nullopt;
    RunOptions options = first_;
    options.changed_inputs.clear();
    DropoutMasks masks = runner_.dropout_masks(problem, raw, options);
    masks_available = !masks.unavailable();
    if (!masks_available) return std::nullopt;
    if (auto verdict = verdict_of_failed_run(masks.result)) return verdict;
    for (std::size_t gap = 0; gap < masks.keep.size(); ++gap) {
      const std::string fault = implausible_mask(masks.keep[gap], static_cast<double>(problem.attributes.dropout));
      if (!fault.empty()) return failed(fmt::format("dropout mask of gap {}: {}", gap, fault));
    }
    problem.keep = std::move(masks.keep);
    return std::nullopt;
  }

  std::optional<Verdict> judge_seeds(const Problem& problem, bool masks_available) const {
    RunOptions options = first_;
    options.changed_inputs.clear();
    return judge_dropout_seeds(runner_, problem, options, claims_, masks_available);
  }

  Runner& runner_;
  const backgauge_op_claims& claims_;
  mutable ExpectedOutputs own_expected_;
  ExpectedOutputs& expected_;
  const std::uint64_t seed_;
  const Declared declared_;
  RunOptions first_, second_, shared_;
};

Verdict judge(Runner& runner, const Problem& problem, const DataFacts& facts, const JudgeOptions& options) {
  const backgauge_implementation& table = runner.table();
  if (table.memory_space == BACKGAUGE_CUDA && !device::absence().empty()) {
    return {Status::kSkipped, device::absence(), {}};
  }
  const backgauge_op_claims* claims = claims_of(table, problem.op);
  const bool legal = refusal_of(problem).empty();
  if (claims == nullptr || legal) {
    std::string reason = unclaimed(claims, problem, facts);
    if (!reason.empty()) return {Status::kSkipped, std::move(reason), {}};
  }
  if (table.run == nullptr) return failed("has no run function");
  const Judge judge(runner, *claims, problem.dtype, facts, options);
  if (!legal) return judge.refusal(problem);
  return traits_of(problem.op).forward ? judge.rnn(problem) : judge.gradient(problem);
}

Verdict harness_error(const std::exception& error) {
  return broken(dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "out of memory" : error.what());
}

}  // namespace

Verdict judge_case(Runner& runner, const Problem& problem, const DataFacts& facts, const JudgeOptions& options) {
  Verdict verdict;
  try {
    verdict = judge(runner, problem, facts, options);
  } catch (const std::exception& error) {
    verdict = harness_error(error);
  }
  try {
    const Runner::CaseEnd end = runner.end_case();
    RunResult late;
    late.status = BACKGAUGE_OK;
    late.violations = end.violations;
    late.broken = end.broken;
    if (auto more = verdict_of_failed_run(late); more && verdict.status != Status::kFailed) return *more;
  } catch (const std::exception& error) {
    if (verdict.status != Status::kFailed) return harness_error(error);
  }
  return verdict;
}

Verdict judge_case(const backgauge_implementation& implementation, const Problem& problem, const DataFacts& facts,
                   const JudgeOptions& options) {
  InProcessRunner runner(implementation);
  return judge_case(runner, problem, facts, options);
}

}  // namespace backgauge
