// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/refusals.h"

#include <fmt/format.h>

#include <exception>

#include "properties/judge/findings.h"
#include "reference/contract/malformed.h"

namespace backgauge {
namespace {

// "" if it was refused as it must be.
std::string fault_of(const backgauge_implementation& implementation, const MalformedCall& malformed) {
  const auto owned = malformed.make(implementation.prepare);
  const bool forward = malformed.setup.op == BACKGAUGE_CUDNN_RNN;
  const auto function = forward ? implementation.forward : implementation.run;
  const char* name = forward ? "forward" : "run";
  if (function == nullptr) return fmt::format("has no {}", name);
  backgauge_message message{};
  backgauge_status status;
  try {
    status = function(&owned->call, &message);
  } catch (...) {  // not ours: the implementation's rules forbid it
    return fmt::format("{} threw an exception", name);
  }
  if (!owned->untouched()) return fmt::format("{} wrote to memory of the call", name);
  if (status != BACKGAUGE_INVALID_ARGUMENT) return fmt::format("{} answered status {}", name, std::int32_t{status});
  if (message.text[0] == '\0') return fmt::format("{} refused without a message", name);
  return "";
}

}  // namespace

Refusals refusals(const backgauge_implementation& implementation, backgauge_op op, backgauge_dtype dtype,
                  std::size_t step) {
  Refusals out;
  const std::vector<MalformedCall> calls = malformed_calls(op, dtype);
  for (std::size_t k = 0; k < calls.size(); k += step) {
    ++out.calls;
    std::string fault = fault_of(implementation, calls[k]);
    if (!fault.empty()) out.wrong.push_back({calls[k].description, std::move(fault)});
  }
  return out;
}

}  // namespace backgauge
