// SPDX-License-Identifier: Apache-2.0
// The table: checks, choice of op and storage type, and the exceptions that must not leave.
#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "impl/cpu/cpu.h"
#include "impl/cpu/ops.h"
#include "impl/cpu/path.h"
#include "impl/cpu/rnn_trace.h"
#include "reference/contract/validate.h"

namespace backgauge {
namespace cpu {
namespace {

backgauge_status fail(backgauge_message* message, backgauge_status status, std::string_view text) {
  if (message != nullptr) {
    const std::size_t size = std::min(text.size(), sizeof message->text - 1);
    std::memcpy(message->text, text.data(), size);
    message->text[size] = '\0';
  }
  return status;
}

template <class Body>
backgauge_status guarded(backgauge_message* message, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "cpu: no memory");
  } catch (const std::exception& e) {
    return fail(message, BACKGAUGE_INTERNAL, e.what());
  }
}

template <class Storage>
void execute_as(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  switch (call.op) {
    case BACKGAUGE_CUDNN_RNN: return cudnn_rnn_forward(CudnnRnnCall<Storage>::bind(call, extents), workspace);
    case BACKGAUGE_CUDNN_RNN_BACKPROP:
      return cudnn_rnn_backprop(CudnnRnnBackpropCall<Storage>::bind(call, extents), workspace);
    default: break;
  }
  if constexpr (!std::is_same_v<Storage, double>) {
    if (call.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) {
      lstm_block_cell_grad(LstmBlockCellGradCall<Storage>::bind(call, extents), workspace);
    } else {
      block_lstm_grad_v2(BlockLstmGradV2Call<Storage>::bind(call, extents), workspace);
    }
  }
}

void execute(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  switch (call.dtype) {
    case BACKGAUGE_HALF: return execute_as<Half>(call, extents, workspace);
    case BACKGAUGE_FLOAT32: return execute_as<float>(call, extents, workspace);
    default: return execute_as<double>(call, extents, workspace);
  }
}

bool has_reserve_space(const backgauge_call& call) {
  return call.op == BACKGAUGE_CUDNN_RNN || call.op == BACKGAUGE_CUDNN_RNN_BACKPROP;
}

std::int64_t reserve_length_of(const backgauge_call& call, const Extents& extents) {
  if (!has_reserve_space(call)) return 0;
  const RnnSizes sizes(extents, call.attributes);
  switch (call.dtype) {
    case BACKGAUGE_HALF: return reserve_length<Half>(sizes);
    case BACKGAUGE_FLOAT32: return reserve_length<float>(sizes);
    default: return reserve_length<double>(sizes);
  }
}

// Of a call whose shapes are right.
backgauge_status plan_for(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                          backgauge_message* message) {
  if (call.memory_space != BACKGAUGE_HOST) return fail(message, BACKGAUGE_UNSUPPORTED, "cpu: host memory only");
  Workspace count;
  const std::int64_t length = reserve_length_of(call, extents);
  if (length >= 0) execute(call, extents, count);
  if (length < 0 || !count.countable())
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "cpu: needs more than 2^60 bytes");
  plan.workspace_alignment = Workspace::kAlignment;
  plan.workspace_bytes = count.bytes();
  plan.reserve_space_length = length;
  return BACKGAUGE_OK;
}

backgauge_status plan_for(const backgauge_call& call, backgauge_plan& plan, backgauge_message* message) {
  const Validation shapes = validate_shapes(call);
  if (!shapes.ok()) return fail(message, BACKGAUGE_INVALID_ARGUMENT, shapes.refusal);
  return plan_for(call, shapes.extents, plan, message);
}

backgauge_status no_call(backgauge_message* message) {
  return fail(message, BACKGAUGE_INVALID_ARGUMENT, "call: expected a call, got NULL");
}

backgauge_status prepare(const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) {
  return guarded(message, [&] {
    if (plan == nullptr) return fail(message, BACKGAUGE_INVALID_ARGUMENT, "plan: expected a plan, got NULL");
    return call == nullptr ? no_call(message) : plan_for(*call, *plan, message);
  });
}

// The whole contract, with the plan that is asked for. To look at the shapes takes a microsecond, so it is done once
// where no length of reserve_space has to be known first.
backgauge_status check(const backgauge_call* call, Validation& validation, backgauge_message* message) {
  if (call == nullptr) return no_call(message);
  const bool reserves = call->struct_size >= sizeof(backgauge_call) && has_reserve_space(*call);
  backgauge_plan plan{};
  backgauge_status status = reserves ? plan_for(*call, plan, message) : BACKGAUGE_OK;
  if (status != BACKGAUGE_OK) return status;
  validation = validate(*call, plan.reserve_space_length);
  if (!validation.ok()) return fail(message, BACKGAUGE_INVALID_ARGUMENT, validation.refusal);
  if (!reserves) status = plan_for(*call, validation.extents, plan, message);
  if (status != BACKGAUGE_OK) return status;
  if (call->workspace_bytes < plan.workspace_bytes) {
    return fail(message, BACKGAUGE_INVALID_ARGUMENT,
                "workspace: expected at least " + std::to_string(plan.workspace_bytes) + " bytes, got " +
                    std::to_string(call->workspace_bytes));
  }
  if (plan.workspace_bytes > 0 && reinterpret_cast<std::uintptr_t>(call->workspace) % Workspace::kAlignment != 0) {
    return fail(message, BACKGAUGE_INVALID_ARGUMENT,
                "workspace: expected an alignment of " + std::to_string(Workspace::kAlignment) + " bytes, got less");
  }
  return BACKGAUGE_OK;
}

backgauge_status checked_execute(const backgauge_call* call, bool forward, backgauge_message* message) {
  return guarded(message, [&] {
    Validation validation;
    const backgauge_status status = check(call, validation, message);
    if (status != BACKGAUGE_OK) return status;
    if ((call->op == BACKGAUGE_CUDNN_RNN) != forward) {
      return fail(message, BACKGAUGE_INVALID_ARGUMENT,
                  forward ? "op: expected BACKGAUGE_CUDNN_RNN" : "op: expected a gradient");
    }
    Workspace workspace(call->workspace);
    execute(*call, validation.extents, workspace);
    return BACKGAUGE_OK;
  });
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  return checked_execute(call, false, message);
}

backgauge_status forward(const backgauge_call* call, backgauge_message* message) {
  return checked_execute(call, true, message);
}

// The masks lie behind the values, as bytes, whatever the storage type.
template <class Storage>
void copy_mask(const backgauge_call& call, const Extents& extents, std::int64_t gap, std::uint8_t* keep) {
  const RnnSizes sizes(extents, call.attributes);
  const auto bound = CudnnRnnBackpropCall<Storage>::bind(call, extents);
  Workspace none;
  const RnnTrace<Storage, const std::byte> trace(sizes, reinterpret_cast<const std::byte*>(bound.reserve_space), none);
  if (const std::uint8_t* kept = trace.keep(gap)) {
    std::copy_n(kept, sizes.gap(), keep);
  } else {
    std::fill_n(keep, sizes.gap(), std::uint8_t{1});
  }
}

backgauge_status dropout_mask(const backgauge_call* call, std::int32_t gap, std::uint8_t* keep,
                              backgauge_message* message) {
  return guarded(message, [&] {
    Validation validation;
    const backgauge_status status = check(call, validation, message);
    if (status != BACKGAUGE_OK) return status;
    const Extents& e = validation.extents;
    const bool nowhere = keep == nullptr && e.T * e.B * e.D * e.H > 0;
    if (call->op != BACKGAUGE_CUDNN_RNN_BACKPROP || nowhere || gap < 0 || gap >= e.L - 1) {
      return fail(message, BACKGAUGE_INVALID_ARGUMENT,
                  "dropout_mask: expected a gap in 0..L-2 of CudnnRNNBackprop, and memory for it");
    }
    switch (call->dtype) {
      case BACKGAUGE_HALF: copy_mask<Half>(*call, validation.extents, gap, keep); break;
      case BACKGAUGE_FLOAT32: copy_mask<float>(*call, validation.extents, gap, keep); break;
      default: copy_mask<double>(*call, validation.extents, gap, keep);
    }
    return BACKGAUGE_OK;
  });
}

constexpr backgauge_op_claims claims_of(backgauge_op op, std::uint32_t dtypes) {
  backgauge_op_claims claims{};
  claims.op = op;
  claims.dtypes = dtypes;
  claims.use_peephole = BACKGAUGE_BIT(0) | BACKGAUGE_BIT(1);
  claims.rnn_modes = BACKGAUGE_BIT(BACKGAUGE_RNN_RELU) | BACKGAUGE_BIT(BACKGAUGE_RNN_TANH) |
                     BACKGAUGE_BIT(BACKGAUGE_LSTM) | BACKGAUGE_BIT(BACKGAUGE_GRU);
  claims.input_modes = BACKGAUGE_BIT(BACKGAUGE_LINEAR_INPUT) | BACKGAUGE_BIT(BACKGAUGE_SKIP_INPUT) |
                       BACKGAUGE_BIT(BACKGAUGE_AUTO_SELECT);
  claims.directions = BACKGAUGE_BIT(BACKGAUGE_UNIDIRECTIONAL) | BACKGAUGE_BIT(BACKGAUGE_BIDIRECTIONAL);
  claims.half_class = BACKGAUGE_CLASS_A;
  claims.numerical_contract = BACKGAUGE_FP32_STRICT;
  claims.determinism = BACKGAUGE_BITWISE;
  return claims;
}

constexpr std::uint32_t kHalfAndFloat = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
constexpr backgauge_op_claims kClaims[] = {
    claims_of(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, kHalfAndFloat),
    claims_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2, kHalfAndFloat),
    claims_of(BACKGAUGE_CUDNN_RNN_BACKPROP, kHalfAndFloat | BACKGAUGE_BIT(BACKGAUGE_FLOAT64)),
};

// The path that this process runs on is part of the version: it decides about bits and times.
const backgauge_implementation& table() {
  static const std::string version = "2 " + std::string(word(path()));
  static const backgauge_implementation implementation = {
      BACKGAUGE_ABI,
      sizeof(backgauge_implementation),
      "cpu",
      version.c_str(),
      "hoisted products on packed weights, fused pointwise steps, vectors and threads",
      BACKGAUGE_HOST,
      std::size(kClaims),
      kClaims,
      prepare,
      run,
      forward,
      dropout_mask,
  };
  return implementation;
}

}  // namespace
}  // namespace cpu

const backgauge_implementation* cpu_implementation(std::string& error) {
  error = cpu::path_refusal();
  return error.empty() ? &cpu::table() : nullptr;
}

}  // namespace backgauge
