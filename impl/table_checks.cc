// SPDX-License-Identifier: Apache-2.0
#include "impl/table_checks.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "reference/contract/validate.h"

namespace backgauge {
namespace {

// Why a call with legal shapes is not among the claims, or "". The forward is claimed if the gradient is.
std::string unclaimed(const std::vector<Claims>& claims, const backgauge_call& call, const Extents& extents) {
  const OpSpec& spec = *find_op(call.op);
  const auto found = std::ranges::find(claims, std::int32_t{spec.traits.gradient.value_or(spec.op)}, &Claims::op);
  if (found == claims.end()) return std::string(spec.tensorflow) + " is not claimed";
  return unclaimed_call(*found, call.dtype, call.attributes, extents);
}

}  // namespace

backgauge_status fail(backgauge_message* message, backgauge_status status, std::string_view text) {
  if (message != nullptr) {
    const std::size_t size = std::min(text.size(), sizeof message->text - 1);
    std::memcpy(message->text, text.data(), size);
    message->text[size] = '\0';
  }
  return status;
}

// The shapes of the call must be legal.
backgauge_status TableChecks::answer(const backgauge_call& call, const Extents& extents, backgauge_plan& needed,
                                     backgauge_message* message) const {
  if (call.memory_space != memory_space_) {
    return fail(message, BACKGAUGE_UNSUPPORTED,
                memory_space_ == BACKGAUGE_HOST ? "host memory only" : "CUDA memory only");
  }
  const std::string reason = unclaimed(claims_, call, extents);
  if (!reason.empty()) return fail(message, BACKGAUGE_UNSUPPORTED, reason);
  needed.workspace_alignment = 1;
  needed.workspace_bytes = 0;
  needed.reserve_space_length = 0;
  return plan_ == nullptr ? BACKGAUGE_OK : plan_(call, extents, needed, message);
}

backgauge_status TableChecks::answer(const backgauge_call& call, backgauge_plan& needed,
                                     backgauge_message* message) const {
  const Validation shapes = validate_shapes(call);
  if (!shapes.ok()) return fail(message, BACKGAUGE_INVALID_ARGUMENT, shapes.refusal);
  return answer(call, shapes.extents, needed, message);
}

backgauge_status TableChecks::prepare(const backgauge_call* call, backgauge_plan* needed,
                                      backgauge_message* message) const noexcept {
  return guarded(message, [&] {
    if (needed == nullptr) return fail(message, BACKGAUGE_INVALID_ARGUMENT, "plan: expected a plan, got NULL");
    if (call == nullptr) return fail(message, BACKGAUGE_INVALID_ARGUMENT, "call: expected a call, got NULL");
    return answer(*call, *needed, message);
  });
}

// To look at the shapes takes a microsecond: done once where no length of reserve_space has to be known first.
backgauge_status TableChecks::before(bool forward, const backgauge_call* call, Extents& extents,
                                     backgauge_message* message) const {
  if (call == nullptr) return fail(message, BACKGAUGE_INVALID_ARGUMENT, "call: expected a call, got NULL");
  const OpSpec* op = call->struct_size < sizeof(backgauge_call) ? nullptr : find_op(call->op);
  const bool reserves = op != nullptr && op->has(Role::kReserve);
  backgauge_plan needed{};
  backgauge_status status = reserves ? answer(*call, needed, message) : BACKGAUGE_OK;
  if (status != BACKGAUGE_OK) return status;
  const Validation validation = validate(*call, needed.reserve_space_length);
  if (!validation.ok()) return fail(message, BACKGAUGE_INVALID_ARGUMENT, validation.refusal);
  if (!reserves) status = answer(*call, validation.extents, needed, message);
  if (status != BACKGAUGE_OK) return status;
  if (find_op(call->op)->traits.gradient.has_value() != forward) {
    return fail(message, BACKGAUGE_INVALID_ARGUMENT,
                forward ? "op: expected BACKGAUGE_CUDNN_RNN" : "op: expected a gradient");
  }
  const auto refuse_workspace = [&](const char* what, std::uint64_t expected) {
    return fail(message, BACKGAUGE_INVALID_ARGUMENT,
                std::string("workspace: expected ") + what + " " + std::to_string(expected) + " bytes, got less");
  };
  if (call->workspace_bytes < needed.workspace_bytes) return refuse_workspace("at least", needed.workspace_bytes);
  if (needed.workspace_bytes > 0 && needed.workspace_alignment > 1 &&
      reinterpret_cast<std::uintptr_t>(call->workspace) % needed.workspace_alignment != 0) {
    return refuse_workspace("an alignment of", needed.workspace_alignment);
  }
  extents = validation.extents;
  return BACKGAUGE_OK;
}

const Claims* TableChecks::claimed(std::int32_t op) const {
  const std::int32_t gradient = find_op(op)->traits.gradient.value_or(static_cast<backgauge_op>(op));
  const auto found = std::ranges::find(claims_, gradient, &Claims::op);
  return found == claims_.end() ? nullptr : &*found;
}

backgauge_status TableChecks::before_mask(const backgauge_call& call, const Extents& extents, std::int32_t mask,
                                          const std::uint8_t* keep, backgauge_message* message) const {
  const Claims* const claims = claimed(call.op);
  const std::int64_t count = claims == nullptr ? 0 : claims->mask_count(call.dtype, extents);
  const bool nowhere = keep == nullptr && mask_elements(extents) > 0;
  if (find_op(call.op)->traits.forward && !nowhere && mask >= 0 && mask < count) return BACKGAUGE_OK;
  return fail(
      message, BACKGAUGE_INVALID_ARGUMENT,
      "dropout_mask: expected a mask in 0.." + std::to_string(count - 1) + " of CudnnRNNBackprop, and memory for it");
}

}  // namespace backgauge
