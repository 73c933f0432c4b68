// SPDX-License-Identifier: Apache-2.0
// The ops, each for a validated call in host memory and the variant that is to compute it.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "properties/saboteurs/variant.h"
#include "reference/contract/op_spec.h"

namespace backgauge::saboteurs {

// What a variant wrongly keeps from call to call; empty for all others.
struct State {
  std::mutex mutex;
  std::int64_t calls = 0;
  std::vector<double> kept;
  std::vector<std::array<std::int64_t, 6>> keys;
};

struct Context {
  const Variant& variant;
  State& state;
  const backgauge_call& call;
  const Extents& extents;
};

// Real: what is computed in. They may throw std::bad_alloc.
template <class Real>
void lstm_block_cell_grad(const Context& context);
template <class Real>
void block_lstm_grad_v2(const Context& context);
template <class Real>
void cudnn_rnn_backprop(const Context& context);
template <class Real>
void cudnn_rnn(const Context& context);

// Of reserve_space, in elements of `dtype`.
std::int64_t reserve_length(const Variant& variant, const Extents& extents, std::int32_t dtype);

// Of the workspace that a variant asks for; correct ones need none.
std::uint64_t workspace_bytes(const Variant& variant, const Extents& extents);

// keep [T, B, D*H] of a gap, as the reserve_space of the call says.
void dropout_mask(const Context& context, std::int32_t gap, std::uint8_t* keep);

// Whether a fault of group K takes a call that the contract refuses.
bool takes_malformed(const Variant& variant, const backgauge_call& call);

// Writes into the first output of such a call, as far as it can be found.
void write_early(const backgauge_call& call);

}  // namespace backgauge::saboteurs
