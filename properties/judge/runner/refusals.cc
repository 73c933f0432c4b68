// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/runner/refusals.h"

#include <fmt/format.h>

#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "properties/judge/call/invocation.h"
#include "properties/judge/call/plan_fault.h"
#include "properties/judge/call/refusal_frame.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/run_verdicts.h"
#include "reference/contract/malformed.h"
#include "reference/contract/validate.h"

namespace backgauge {
namespace {

// The function of a result without a call: the changed call is legal after all.
constexpr std::string_view kMadeLegal = "none";

// Whether a damaged call is legal for an implementation whose reserve_space has no element: a length of 0, no memory,
// or memory within that of another tensor.
bool is_legal(const OwnedCall& owned, backgauge_op op) {
  return spec_of(op).has(Role::kReserve) && owned.plan.reserve_space_length == 0 && validate(owned.call, 0).ok();
}

// Thrown if prepare refuses the legal call that a malformed one is made from.
struct NotPrepared {};

// Listing them takes milliseconds, and a run asks for them thousands of times.
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
  const bool forward = traits_of(which.op).gradient.has_value();
  const backgauge_op gradient = traits_of(which.op).gradient.value_or(which.op);
  const std::optional<Claims> claims = claims_of(table, gradient);
  if (table.memory_space != BACKGAUGE_HOST) {
    return {Status::kSkipped, "malformed calls are made in host memory only", {}};
  }
  const CallSetup& legal = calls_of(which.op, which.dtype).at(which.number).setup;
  if (std::string why = unclaimed(claims, {gradient, which.dtype, legal.attributes, legal.extents, {}, {}}, {});
      !why.empty()) {
    return {Status::kSkipped, std::move(why), {}};
  }
  if ((forward ? table.forward : table.run) == nullptr)
    return failed(forward ? "has no forward function" : "has no run function");
  const RunResult result = runner.refuse(which);
  const std::string call = fmt::format("{} {}", kMalformedCall, malformed_description(which));
  const std::string_view answer = call_status_word(result.status);
  if (!result.violations.empty()) return failed(fmt::format("{}: {}", call, result.violations.front()));
  if (!result.broken.empty()) return {Status::kBroken, fmt::format("{}, in {}", result.broken, call), {}};
  if (result.function == kMadeLegal) {
    return {Status::kPassed, "", {}, "not made: the call is legal, because reserve_space has no element"};
  }
  if (result.function == "prepare") {
    return failed(fmt::format("{}: prepare returned {} for the legal call that it is made from: {}", call, answer,
                              result.message));
  }
  if (result.status == BACKGAUGE_OK) {
    return failed(fmt::format("{}: {} accepted a call that must be refused", call, result.function));
  }
  if (result.status != BACKGAUGE_INVALID_ARGUMENT) {
    return failed(fmt::format("{}: {} returned {} for a call that must be refused", call, result.function, answer));
  }
  if (result.message.empty()) return failed(fmt::format("{}: {} refused without a message", call, result.function));
  return {Status::kPassed, "", {}};
}

}  // namespace

std::uint64_t malformed_count(backgauge_op op, backgauge_dtype dtype) { return calls_of(op, dtype).size(); }

std::string malformed_description(const Malformed& which) {
  return calls_of(which.op, which.dtype).at(which.number).description;
}

std::string malformed_kind(const Malformed& which) {
  const std::string description = malformed_description(which);
  std::string out;
  for (const char c : description.substr(description.rfind(": ") + 2)) {
    const bool number = (c >= '0' && c <= '9') || c == '-';
    if (!number) {
      out += c;
    } else if (!out.ends_with('#')) {
      out += '#';
    }
  }
  return out;
}

std::uint64_t malformed_case_count(backgauge_op gradient_op, backgauge_dtype dtype) {
  const std::uint64_t backward = malformed_count(gradient_op, dtype);
  const auto forward = traits_of(gradient_op).forward;
  return forward ? backward + malformed_count(*forward, dtype) : backward;
}

Malformed malformed_of_case(backgauge_op gradient_op, backgauge_dtype dtype, std::uint64_t number) {
  const std::uint64_t backward = malformed_count(gradient_op, dtype);
  if (number < backward) return {gradient_op, dtype, number};
  return {traits_of(gradient_op).forward.value_or(gradient_op), dtype, number - backward};
}

RunResult InProcessRunner::refuse(const Malformed& which) {
  RunResult result;
  // If prepare asks for more, the frame is replaced.
  constexpr std::size_t kRoomForInputs = std::size_t{1} << 18;
  if (refusal_frame_ != nullptr) {
    if (const std::vector<std::string> late = refusal_frame_->late_violations(); !late.empty()) {
      result.violations.push_back("the malformed call before this one " + late.front());
      refusal_frame_.reset();
    }
  }
  if (refusal_frame_ == nullptr) refusal_frame_ = std::make_unique<RefusalFrame>(kRoomForInputs);
  const auto freeze = [&](bool report) {
    const std::vector<std::string> touched = refusal_frame_->freeze();
    if (touched.empty()) return;
    if (report) result.violations.push_back(result.function + " " + touched.front());
    refusal_frame_.reset();
  };
  const auto prepare = [&](const backgauge_call* call, backgauge_plan* plan, backgauge_message*) {
    invoke("prepare", observer_, result, [&](backgauge_message& message) {
      refusal_frame_->load(*call, {call->inputs, static_cast<std::size_t>(call->num_inputs)},
                           {call->outputs, static_cast<std::size_t>(call->num_outputs)}, nullptr);
      const backgauge_status status =
          implementation_.prepare(refusal_frame_->call(), refusal_frame_->plan(), refusal_frame_->message());
      message = *refusal_frame_->message();
      *plan = *refusal_frame_->plan();
      return status;
    });
    freeze(true);
    if (result.status != BACKGAUGE_OK || !result.violations.empty()) throw NotPrepared();
    add_plan_fault(*plan, *find_op(call->op), call->dtype, memory_limit_, result);
    if (!result.violations.empty() || !result.broken.empty()) throw NotPrepared();
    return BACKGAUGE_OK;
  };
  const auto input_memory = [&](std::size_t bytes) {
    if (refusal_frame_->inputs().size() < bytes) refusal_frame_ = std::make_unique<RefusalFrame>(bytes);
    return refusal_frame_->inputs().data();
  };
  try {
    const PrepareFunction prepares = implementation_.prepare == nullptr ? PrepareFunction() : prepare;
    const auto owned = calls_of(which.op, which.dtype).at(which.number).make(prepares, input_memory);
    if (is_legal(*owned, which.op)) {
      result.function = kMadeLegal;
      return result;
    }
    const bool forward = traits_of(which.op).gradient.has_value();
    invoke(forward ? "forward" : "run", observer_, result, [&](backgauge_message& message) {
      refusal_frame_->load(owned->call, owned->inputs, owned->outputs, &owned->seq_len_max());
      const auto function = forward ? implementation_.forward : implementation_.run;
      const backgauge_status status = function(refusal_frame_->call(), refusal_frame_->message());
      message = *refusal_frame_->message();
      return status;
    });
    // A call that was accepted has been computed and has written its outputs. The fault is that it was accepted.
    const bool refused = result.status != BACKGAUGE_OK;
    freeze(refused);
    if (refused && !owned->untouched()) result.violations.push_back(result.function + " wrote to memory of the call");
  } catch (const NotPrepared&) {  // `result` says why
  }
  return result;
}

Verdict judge_refusal(Runner& runner, const Malformed& which) {
  Verdict verdict;
  try {
    verdict = judged(runner, which);
    const RunResult end = runner.end_case();
    if (verdict.status == Status::kPassed && !end.violations.empty()) return failed(end.violations.front());
    if (verdict.status == Status::kPassed && !end.broken.empty()) {
      return {Status::kBroken, fmt::format("{}, in malformed call {}", end.broken, malformed_description(which)), {}};
    }
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
