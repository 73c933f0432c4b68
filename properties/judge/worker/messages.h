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
  kMemoryGrowth,  // judge: Request; reply: MemoryGrowth
  kRefuse,        // judge: Malformed; reply: RunResult without outputs
  kEndCase,       // judge: nothing; reply: the same
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

// Their fields on the wire.
template <class Archive, Is<RawTensor> V>
void fields(Archive& archive, V& tensor) {
  archive(tensor.name, tensor.shape, tensor.bytes);
}

template <class Archive, Is<Tensor> V>
void fields(Archive& archive, V& tensor) {
  archive(tensor.name, tensor.shape, tensor.values);
}

// The values are not sent, because they follow from the bytes.
template <class Archive, Is<Output> V>
void fields(Archive& archive, V& output) {
  archive(output.raw, output.unwritten);
}

// Problem and RunOptions begin with a field that is not trivial, on which Reader relies.
template <class Archive, Is<Problem> V>
void fields(Archive& archive, V& problem) {
  archive(problem.inputs, problem.keep, problem.op, problem.dtype, problem.attributes, problem.extents);
}

template <class Archive, Is<RunOptions> V>
void fields(Archive& archive, V& options) {
  archive(options.changed_inputs, options.shared_outputs, options.num_threads, options.placement,
          options.workspace_fill, options.finite_outputs);
}

template <class Archive, Is<Introduction> V>
void fields(Archive& archive, V& i) {
  archive(i.name, i.version, i.description, i.memory_space, i.functions, i.claims);
}

// A worker that reports `broken` is believed: only its own implementation gains or loses by that.
template <class Archive, Is<RunResult> V>
void fields(Archive& archive, V& result) {
  auto status = static_cast<std::int32_t>(result.status);
  archive(result.function, result.message, result.outputs, result.violations, result.broken, status,
          result.reserve_length);
  if constexpr (!std::is_const_v<V>) {
    if (status < BACKGAUGE_OK || status > BACKGAUGE_INTERNAL) return archive.fail();
    result.status = static_cast<backgauge_status>(status);
  }
}

template <class Archive, Is<TogetherCall> V>
void fields(Archive& archive, V& call) {
  archive(call.problem, call.options, call.repeats);
}

template <class Archive, Is<Together::Stray> V>
void fields(Archive& archive, V& stray) {
  archive(stray.outputs, stray.keep, stray.thread, stray.forward);
}

// `broken`: as above.
template <class Archive, Is<Together> V>
void fields(Archive& archive, V& together) {
  archive(together.fault, together.strays, together.thread, together.calls, together.overlapped, together.fewest,
          together.enough);
}

template <class Archive, Is<ThreadUse> V>
void fields(Archive& archive, V& use) {
  archive(use.unmeasured, use.fault, use.busy, use.samples);
}

template <class Archive, Is<MemoryGrowth> V>
void fields(Archive& archive, V& growth) {
  archive(growth.unmeasured, growth.fault, growth.calls, growth.bytes, growth.throughout);
}

template <class Archive, Is<DropoutMasks> V>
void fields(Archive& archive, V& masks) {
  archive(masks.result, masks.keep);
}

template <class Archive, Is<Request> V>
void fields(Archive& archive, V& request) {
  archive(request.problem, request.raw, request.options);
}

// What a worker has sent; nullopt if the bytes cannot be decoded, or do not match the problem. All texts are made
// printable.
std::optional<Introduction> introduction_from(std::span<const std::byte> bytes);
std::optional<Together> together_from(std::span<const std::byte> bytes, const std::vector<TogetherCall>& calls);
std::optional<ThreadUse> thread_use_from(std::span<const std::byte> bytes);
std::optional<MemoryGrowth> memory_growth_from(std::span<const std::byte> bytes);
std::optional<RunResult> result_without_outputs_from(std::span<const std::byte> bytes);
std::optional<RunResult> run_result_from(std::span<const std::byte> bytes, const Problem& problem);
std::optional<DropoutMasks> dropout_masks_from(std::span<const std::byte> bytes, const Problem& problem);
std::optional<std::vector<std::string>> texts_from(std::span<const std::byte> bytes);

}  // namespace backgauge
