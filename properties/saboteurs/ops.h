// SPDX-License-Identifier: Apache-2.0
// The ops. Each computes a validated call in host memory as a given variant.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "properties/saboteurs/variant.h"
#include "reference/contract/op_spec.h"

namespace backgauge::saboteurs {

// The state that some variants wrongly keep from call to call; empty for all others.
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

// Real: the type of the computation. May throw std::bad_alloc.
template <class Real>
void lstm_block_cell_grad(const Context& context);
template <class Real>
void block_lstm_grad_v2(const Context& context);
template <class Real>
void cudnn_rnn_backprop(const Context& context);
template <class Real>
void cudnn_rnn(const Context& context);

// Length of reserve_space, in elements of `dtype`.
std::int64_t reserve_length(const Variant& variant, const Extents& extents, std::int32_t dtype);

// Size of the workspace that a variant asks for; correct ones need none.
std::uint64_t workspace_bytes(const Variant& variant, const Extents& extents);

// Writes the mask of gap `gap`, [T, B, D*H], as stored in the reserve_space of the call.
void dropout_mask(const Context& context, std::int32_t gap, std::uint8_t* keep);

// Whether a variant with a fault of group K accepts a call that the contract refuses.
bool takes_malformed(const Variant& variant, const backgauge_call& call);

// Writes into the first output of such a call, if it has one.
void write_early(const backgauge_call& call);

}  // namespace backgauge::saboteurs
