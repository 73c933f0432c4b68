// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/refusals.h"

#include <fmt/format.h>

#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "properties/judge/claims.h"
#include "properties/judge/findings.h"
#include "reference/contract/malformed.h"

namespace backgauge {
namespace {

// They take milliseconds to list, and a run asks thousands of times.
const std::vector<MalformedCall>& calls_of(backgauge_op op, backgauge_dtype dtype) {
  static std::map<std::pair<int, int>, std::vector<MalformedCall>> lists;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = lists.try_emplace({op, dtype});
  if (is_new) found->second = malformed_calls(op, dtype);
  return found->second;
}

Verdict judged(Runner& runner, const Malformed& which) {
  const backgauge_implementation& table = runner.table();
  const bool forward = which.op == BACKGAUGE_CUDNN_RNN;
  const backgauge_op gradient = forward ? BACKGAUGE_CUDNN_RNN_BACKPROP : which.op;
  const backgauge_op_claims* claims = claims_of(table, gradient);
  if (table.memory_space != BACKGAUGE_HOST) {
    return {Status::kSkipped, "malformed calls are made in host memory only", {}};
  }
  const CallSetup& legal = calls_of(which.op, which.dtype).at(which.number).setup;
  if (std::string why = unclaimed(claims, {gradient, which.dtype, legal.attributes, legal.extents, {}, {}}, {});
      !why.empty()) {
    return {Status::kSkipped, std::move(why), {}};
  }
  if ((forward ? table.forward : table.run) == nullptr) return failed(forward ? "has no forward" : "has no run");
  const RunResult result = runner.refuse(which);
  const std::string call = "malformed call " + malformed_description(which);
  if (!result.violations.empty()) return failed(fmt::format("{}: {}", call, result.violations.front()));
  if (!result.broken.empty()) return {Status::kBroken, result.broken, {}};
  if (result.status != BACKGAUGE_INVALID_ARGUMENT) {
    return failed(fmt::format("{}: {} answered {} to a call that must be refused", call, result.function,
                              status_word(std::int32_t{result.status})));
  }
  if (result.message.empty()) return failed(fmt::format("{}: {} refused without a message", call, result.function));
  return {Status::kPassed, "", {}};
}

}  // namespace

std::uint64_t malformed_count(backgauge_op op, backgauge_dtype dtype) { return calls_of(op, dtype).size(); }

std::string malformed_description(const Malformed& which) {
  return calls_of(which.op, which.dtype).at(which.number).description;
}

std::uint64_t malformed_case_count(backgauge_op gradient_op, backgauge_dtype dtype) {
  const std::uint64_t backward = malformed_count(gradient_op, dtype);
  return gradient_op == BACKGAUGE_CUDNN_RNN_BACKPROP ? backward + malformed_count(BACKGAUGE_CUDNN_RNN, dtype)
                                                     : backward;
}

Malformed malformed_of_case(backgauge_op gradient_op, backgauge_dtype dtype, std::uint64_t number) {
  const std::uint64_t backward = malformed_count(gradient_op, dtype);
  if (gradient_op != BACKGAUGE_CUDNN_RNN_BACKPROP || number < backward) return {gradient_op, dtype, number};
  return {BACKGAUGE_CUDNN_RNN, dtype, number - backward};
}

RunResult InProcessRunner::refuse(const Malformed& which) {
  const auto owned = calls_of(which.op, which.dtype).at(which.number).make(implementation_.prepare);
  const bool forward = which.op == BACKGAUGE_CUDNN_RNN;
  RunResult result;
  result.function = forward ? "forward" : "run";
  backgauge_message message{};
  if (observer_) observer_(result.function.c_str(), true);
  try {
    result.status = (forward ? implementation_.forward : implementation_.run)(&owned->call, &message);
  } catch (...) {  // not ours: the implementation's rules forbid it
    result.violations.push_back(result.function + " threw an exception");
  }
  if (observer_) observer_(result.function.c_str(), false);
  if (!owned->untouched()) result.violations.push_back(result.function + " wrote to memory of the call");
  message.text[sizeof message.text - 1] = '\0';
  result.message = message.text;
  return result;
}

Verdict judge_refusal(Runner& runner, const Malformed& which) {
  Verdict verdict;
  try {
    verdict = judged(runner, which);
    const Runner::CaseEnd end = runner.end_case();
    if (verdict.status == Status::kPassed && !end.violations.empty()) return failed(end.violations.front());
    if (verdict.status == Status::kPassed && !end.broken.empty()) return {Status::kBroken, end.broken, {}};
  } catch (const std::exception& error) {
    return broken(error.what());
  }
  return verdict;
}

Refusals refusals(const backgauge_implementation& implementation, backgauge_op op, backgauge_dtype dtype,
                  std::size_t step) {
  Refusals out;
  InProcessRunner runner(implementation);
  for (std::uint64_t number = 0; number < malformed_count(op, dtype); number += step) {
    ++out.calls;
    const Malformed which{op, dtype, number};
    Verdict verdict = judge_refusal(runner, which);
    if (verdict.status != Status::kPassed)
      out.wrong.push_back({malformed_description(which), std::move(verdict.reason)});
  }
  return out;
}

}  // namespace backgauge
