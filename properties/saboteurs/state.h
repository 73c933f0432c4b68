// SPDX-License-Identifier: Apache-2.0
// State that a variant wrongly keeps from call to call.
#pragma once

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "properties/saboteurs/ops.h"

namespace backgauge::saboteurs {

// The value of `now` at the first call with these sizes.
inline std::int64_t of_first_call(const Context& context, const std::array<std::int64_t, 5>& sizes, std::int64_t now) {
  State& state = context.state;
  const std::lock_guard lock(state.mutex);
  for (const auto& key : state.keys) {
    if (std::equal(sizes.begin(), sizes.end(), key.begin())) return key[5];
  }
  state.keys.push_back({sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], now});
  return now;
}

// The values that the previous call kept; empty if their number is not `size`.
template <class Real>
std::vector<Real> kept(const Context& context, std::size_t size) {
  const std::lock_guard lock(context.state.mutex);
  if (context.state.kept.size() != size) return {};
  return {context.state.kept.begin(), context.state.kept.end()};
}

template <class Real>
void keep(const Context& context, const std::vector<Real>& values) {
  const std::lock_guard lock(context.state.mutex);
  context.state.kept.assign(values.begin(), values.end());
}

// Copies values through memory that all calls share.
template <class Real>
std::vector<Real> through_shared_memory(const Context& context, const std::vector<Real>& values) {
  keep(context, values);
  std::this_thread::yield();
  std::vector<Real> read = kept<Real>(context, values.size());
  return read.empty() ? values : read;
}

// How many calls there were before this one.
inline std::int64_t calls_before(const Context& context) {
  const std::lock_guard lock(context.state.mutex);
  return context.state.calls++;
}

}  // namespace backgauge::saboteurs
