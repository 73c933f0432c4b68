// SPDX-License-Identifier: Apache-2.0
// What the judge and a worker tell each other. A worker's word is not to be trusted: its memory was the
// implementation's too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "properties/judge/call/run.h"
#include "properties/judge/runner/refusals.h"
#include "properties/judge/runner/runner.h"
#include "properties/judge/worker/wire.h"

namespace backgauge {

enum class MessageKind : std::uint32_t {
  kLoaded = 1,    // worker: Introduction
  kNotLoaded,     // worker: why, one text
  kRun,           // judge: Request; answered by the same with a RunResult
  kDropoutMasks,  // judge: Request; answered by the same with DropoutMasks
  kTogether,      // judge: TogetherCalls; answered by the same with Together
  kThreadUse,     // judge: Request; answered by the same with a ThreadUse
  kRefuse,        // judge: Malformed; answered by the same with a RunResult without outputs
  kEndCase,       // judge: nothing; answered by the same with violations
  kNoMemory,      // worker: the arena cannot be had
  kTrouble        // worker: of its own, one text
};

// The table of an implementation without its addresses.
struct Introduction {
  std::string name, version, description;
  std::int32_t memory_space = 0;
  std::uint32_t functions = 0;  // which there are: kPrepare | ...
  std::vector<backgauge_op_claims> claims;

  static constexpr std::uint32_t kPrepare = 1, kRun = 2, kForward = 4, kDropoutMask = 8;
};
Introduction introduction(const backgauge_implementation& implementation);

// A table that can be asked what an implementation is, not to compute: its functions answer BACKGAUGE_INTERNAL. It
// points into `introduction`.
backgauge_implementation table_of(const Introduction& introduction);

struct Request {
  Problem problem;
  std::vector<RawTensor> raw;
  RunOptions options;
};

// Each as bytes, and back. nullopt where they cannot be decoded: for an answer, where it does not fit the problem. All
// texts from a worker are printable.
Writer to_wire(const Introduction& introduction);
Writer to_wire(const Problem& problem, std::span<const RawTensor> raw, const RunOptions& options);
Writer to_wire(const std::vector<TogetherCall>& calls);
Writer to_wire(const Together& together);
Writer to_wire(const ThreadUse& use);
Writer to_wire(const Malformed& which);
Writer to_wire(const RunResult& result);
Writer to_wire(const DropoutMasks& masks);
Writer to_wire(const std::vector<std::string>& texts);

std::optional<Introduction> introduction_from(std::span<const std::byte> bytes);
std::optional<Request> request_from(std::span<const std::byte> bytes);
std::optional<std::vector<TogetherCall>> together_calls_from(std::span<const std::byte> bytes);
std::optional<Together> together_from(std::span<const std::byte> bytes, const std::vector<TogetherCall>& calls);
std::optional<ThreadUse> thread_use_from(std::span<const std::byte> bytes);
std::optional<Malformed> malformed_from(std::span<const std::byte> bytes);
std::optional<RunResult> refusal_from(std::span<const std::byte> bytes);
std::optional<RunResult> run_result_from(std::span<const std::byte> bytes, const Problem& problem);
std::optional<DropoutMasks> dropout_masks_from(std::span<const std::byte> bytes, const Problem& problem);
std::optional<std::vector<std::string>> texts_from(std::span<const std::byte> bytes);

}  // namespace backgauge
