// SPDX-License-Identifier: Apache-2.0
// The messages between the judge and a worker. Replies are untrusted, because the implementation could write to the
// memory of the worker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "properties/judge/call/run.h"
#include "properties/judge/runner/refusals.h"
#include "properties/judge/runner/runner.h"
#include "properties/judge/worker/wire.h"
#include "reference/contract/claims.h"

namespace backgauge {

enum class MessageKind : std::uint32_t {
  kLoaded = 1,    // worker: Introduction
  kNotLoaded,     // worker: the reason, one text
  kRun,           // judge: Request; the reply is of the same kind, with a RunResult
  kDropoutMasks,  // judge: Request; reply: DropoutMasks
  kTogether,      // judge: TogetherCalls; reply: Together
  kThreadUse,     // judge: Request; reply: ThreadUse
  kRefuse,        // judge: Malformed; reply: RunResult without outputs
  kEndCase,       // judge: nothing; reply: violations
  kNoMemory,      // worker: no memory for the arena
  kError          // worker: an error in the worker itself, one text
};

// The table of an implementation, without addresses.
struct Introduction {
  std::string name, version, description;
  std::int32_t memory_space = 0;
  std::uint32_t functions = 0;  // those that are not NULL: kPrepare | ...
  std::vector<Claims> claims;

  static constexpr std::uint32_t kPrepare = 1, kRun = 2, kForward = 4, kDropoutMask = 8;
};
Introduction introduction(const backgauge_implementation& implementation);

// A table with the name and claims of an implementation, which cannot compute: its functions answer BACKGAUGE_INTERNAL.
// It points into `introduction` and into the arrays of its claims.
backgauge_implementation table_of(const Introduction& introduction, const ClaimArrays& claims);

struct Request {
  Problem problem;
  std::vector<RawTensor> raw;
  RunOptions options;
};

// Each type as bytes, and back. nullopt if bytes cannot be decoded, or if a reply does not match the problem. All texts
// from a worker are made printable.
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
