// SPDX-License-Identifier: Apache-2.0
// The part of an implementation's table around its ops: refuses calls, reports the memory that a call needs, and
// turns exceptions into statuses.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <string_view>

#include "impl/call_error.h"
#include "impl/workspace.h"
#include "reference/contract/op_spec.h"

namespace backgauge {

// Whether the op has a reserve_space, whose length its implementation says.
inline bool has_reserve_space(const backgauge_call& call) {
  return call.op == BACKGAUGE_CUDNN_RNN || call.op == BACKGAUGE_CUDNN_RNN_BACKPROP;
}

// Claims every attribute of `op`: computed in float32 or wider, rounded once, deterministic.
constexpr backgauge_op_claims complete_claims(backgauge_op op) {
  backgauge_op_claims claims{};
  claims.op = op;
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  if (op == BACKGAUGE_CUDNN_RNN_BACKPROP) {
    claims.dtypes |= BACKGAUGE_BIT(BACKGAUGE_FLOAT64) | BACKGAUGE_BIT(BACKGAUGE_BFLOAT16);
  }
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

// Puts the text into the message, if there is one. Returns the status.
backgauge_status fail(backgauge_message* message, backgauge_status status, std::string_view text);

// Runs `body`, which returns a status, and turns what it throws into one.
template <class Body>
backgauge_status guarded(backgauge_message* message, Body body) noexcept {
  try {
    return body();
  } catch (const CallError& error) {
    return fail(message, error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "no memory for temporaries");
  } catch (const std::exception& e) {
    return fail(message, BACKGAUGE_INTERNAL, e.what());
  }
}

// On input the memory that an op has counted, and the length of reserve_space, negative if it is too large. On output
// the plan, or BACKGAUGE_OUT_OF_MEMORY.
template <std::uint64_t kAlignment>
backgauge_status fill_plan(const Workspace<kAlignment>& count, std::int64_t reserve_length, backgauge_plan& plan,
                           backgauge_message* message) {
  if (reserve_length < 0 || !count.countable()) {
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "needs more than 2^60 bytes");
  }
  plan.workspace_alignment = kAlignment;
  plan.workspace_bytes = count.bytes();
  plan.reserve_space_length = reserve_length;
  return BACKGAUGE_OK;
}

// The check that `dropout_mask` makes in addition, of a call that may be executed: BACKGAUGE_OK if the call has a mask
// for this gap between layers, and `keep` is memory for it.
backgauge_status before_mask(const backgauge_call& call, const Extents& extents, std::int32_t gap,
                             const std::uint8_t* keep, backgauge_message* message);

struct TableChecks {
  std::span<const backgauge_op_claims> claims;
  // Answers for a call that is claimed and whose shapes are legal; sees what prepare may see. nullptr: nothing is
  // needed.
  backgauge_status (*plan)(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                           backgauge_message* message);
  std::int32_t memory_space = BACKGAUGE_HOST;  // of the calls it takes

  // The whole of `prepare`.
  backgauge_status prepare(const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) const noexcept;

  // The whole of `run`, or of `forward`: execute(call, extents).
  template <class Execute>
  backgauge_status run(bool forward, const backgauge_call* call, backgauge_message* message,
                       Execute execute) const noexcept {
    return guarded(message, [&] {
      Extents extents;
      const backgauge_status status = before(forward, call, extents, message);
      if (status == BACKGAUGE_OK) execute(*call, extents);
      return status;
    });
  }

  // The whole of `dropout_mask`: copy_mask(call, extents).
  template <class CopyMask>
  backgauge_status mask(const backgauge_call* call, std::int32_t gap, const std::uint8_t* keep,
                        backgauge_message* message, CopyMask copy_mask) const noexcept {
    return guarded(message, [&] {
      Extents extents;
      backgauge_status status = before(false, call, extents, message);
      if (status == BACKGAUGE_OK) status = before_mask(*call, extents, gap, keep, message);
      if (status == BACKGAUGE_OK) copy_mask(*call, extents);
      return status;
    });
  }

  // Before `run`, or before `forward`: BACKGAUGE_OK if the op may be executed, and then its extents.
  backgauge_status before(bool forward, const backgauge_call* call, Extents& extents, backgauge_message* message) const;

 private:
  backgauge_status answer(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                          backgauge_message* message) const;
  backgauge_status answer(const backgauge_call& call, backgauge_plan& plan, backgauge_message* message) const;
};

}  // namespace backgauge
