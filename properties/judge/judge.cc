// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/judge.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "properties/judge/claims.h"
#include "properties/judge/findings.h"
#include "properties/judge/run.h"

namespace backgauge {
namespace {

class Judge {
 public:
  Judge(const backgauge_implementation& implementation, const backgauge_op_claims& claims, const DataFacts& facts,
        const JudgeOptions& options)
      : implementation_(implementation),
        claims_(claims),
        declared_(declared(claims)),
        values_(facts.structured || facts.nonfinite ? Values::kStructured : Values::kRandom) {
    first_.num_threads = options.num_threads;
    first_.placement = Placement(options.seed);
    if (claims.changes_reserve_space != 0) first_.changed_inputs = {"reserve_space"};
    second_ = first_;
    second_.placement = first_.placement.opposite();
    second_.workspace_fill = RunOptions::kFiniteFill;
    if (claims.determinism == BACKGAUGE_BITWISE) second_.num_threads = options.num_threads == 1 ? 3 : 1;
  }

  Verdict refusal(const Problem& problem) const {
    if (problem.op == BACKGAUGE_CUDNN_RNN_BACKPROP) {
      const Problem forward = forward_problem(problem);
      if (!refusal_of(forward).empty() && implementation_.forward != nullptr) {
        if (Verdict verdict = refused_call(forward); verdict.status != Status::kPassed) return verdict;
      }
    }
    return refused_call(problem);
  }

  Verdict gradient(const Problem& problem, const std::vector<RawTensor>& raw) const {
    const RunResult first = run(implementation_, problem, raw, first_);
    for (const RawTensor& tensor : raw) {
      if (tensor.name != "reserve_space" || tensor.shape[0] == first.reserve_length) continue;
      return failed(
          fmt::format("prepare asked for a reserve_space of {} elements for the forward and {} for the gradient",
                      tensor.shape[0], first.reserve_length));
    }
    if (auto verdict = trouble(first)) return *verdict;
    const std::vector<Wanted> wanted = oracle(problem, declared_, values_);
    Verdict verdict = conclude(compare_outputs(first.outputs, wanted, problem, declared_));
    if (verdict.status == Status::kFailed) return verdict;

    const RunResult second = run(implementation_, problem, raw, second_);
    if (auto again = trouble(second)) return *again;
    const std::string difference = first_difference(first.outputs, second.outputs);
    if (difference.empty()) return verdict;
    if (claims_.determinism != BACKGAUGE_NOT_DETERMINISTIC) return failed("not repeatable: " + difference);
    Verdict other = conclude(compare_outputs(second.outputs, wanted, problem, declared_));
    return other.status == Status::kFailed ? other : verdict;
  }

  Verdict rnn(Problem problem) const {
    if (implementation_.forward == nullptr) return failed("claims CudnnRNNBackprop and has no forward");
    Problem forward = forward_problem(problem);
    const RunResult made = run(implementation_, forward, {}, first_);
    if (auto verdict = trouble(made)) return *verdict;
    std::vector<RawTensor> raw;
    for (const Output& output : made.outputs) raw.push_back(output.raw);

    if (auto verdict = reveal_masks(problem, raw)) return *verdict;
    forward.keep = problem.keep;
    Verdict verdict = conclude(compare_outputs(made.outputs, oracle(forward, declared_, values_), forward, declared_));
    if (verdict.status == Status::kFailed) return verdict;

    Verdict backward = gradient(problem, raw);
    if (backward.tensors.empty()) return backward;  // not compared, for the reason it gives
    verdict.tensors.insert(verdict.tensors.end(), backward.tensors.begin(), backward.tensors.end());
    return conclude(std::move(verdict.tensors));
  }

 private:
  Verdict refused_call(const Problem& problem) const {
    const RunResult result = run(implementation_, problem, absent_inputs(problem), first_);
    if (!result.violations.empty()) return failed(result.violations.front());
    if (result.status == BACKGAUGE_INVALID_ARGUMENT) return {Status::kPassed, "", {}};
    return failed(fmt::format("{} answered {} to a call that must be refused: {}", result.function,
                              status_word(std::int32_t{result.status}), result.refusal));
  }

  // Fills in problem.keep where the masks decide what is right.
  std::optional<Verdict> reveal_masks(Problem& problem, const std::vector<RawTensor>& raw) const {
    if (!has_random_dropout(problem)) return std::nullopt;
    RunOptions options = first_;
    options.changed_inputs.clear();
    DropoutMasks masks = dropout_masks(implementation_, problem, raw, options);
    if (auto verdict = trouble(masks.result)) return verdict;
    for (std::size_t gap = 0; gap < masks.keep.size(); ++gap) {
      const std::string fault = implausible_mask(masks.keep[gap], static_cast<double>(problem.attributes.dropout));
      if (!fault.empty()) return failed(fmt::format("dropout mask of gap {}: {}", gap, fault));
    }
    problem.keep = std::move(masks.keep);
    return std::nullopt;
  }

  const backgauge_implementation& implementation_;
  const backgauge_op_claims& claims_;
  const Declared declared_;
  const Values values_;
  RunOptions first_, second_;
};

Verdict judge(const backgauge_implementation& implementation, const Problem& problem, const DataFacts& facts,
              const JudgeOptions& options) {
  if (implementation.memory_space != BACKGAUGE_HOST) {
    return {Status::kSkipped, "the implementation takes memory that this judge does not have", {}};
  }
  const backgauge_op_claims* claims = claims_of(implementation, problem.op);
  const bool legal = refusal_of(problem).empty();
  if (claims == nullptr || legal) {
    std::string reason = unclaimed(implementation, claims, problem, facts);
    if (!reason.empty()) return {Status::kSkipped, std::move(reason), {}};
  }
  if (implementation.run == nullptr) return failed("has no run");
  const Judge judge(implementation, *claims, facts, options);
  if (!legal) return judge.refusal(problem);
  return problem.op == BACKGAUGE_CUDNN_RNN_BACKPROP ? judge.rnn(problem) : judge.gradient(problem, {});
}

}  // namespace

Verdict judge_case(const backgauge_implementation& implementation, const Problem& problem, const DataFacts& facts,
                   const JudgeOptions& options) {
  try {
    return judge(implementation, problem, facts, options);
  } catch (const std::bad_alloc&) {
    return broken("out of memory");
  } catch (const std::exception& error) {
    return broken(error.what());
  }
}

}  // namespace backgauge
