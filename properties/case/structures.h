// SPDX-License-Identifier: Apache-2.0
// Values with a structure: whole parts of tensors that are special, as programs that people write hand them over (no
// initial state, a gradient of the last step only, no biases) and as shortcuts of an implementation look for them.
#pragma once

#include <span>
#include <string_view>

#include "properties/case/draft.h"

namespace backgauge {

struct Structure {
  const char* what;            // "h_prev and cs_prev 0"
  void (*impose)(Draft&);      // on what has been drawn
  bool chooses_saved = false;  // saved tensors are chosen, not made by a forward pass
};

// Those of the classes kBlank, kAlike, kExact and kLone, none for all others. What a case line means depends on their
// number: more of them are another class.
std::span<const Structure> structures_of(backgauge_op op, DataClass data);

// The one of a case: number seed % how many its class has. nullptr if the class has none.
const Structure* structure_of(const Case& c);

// `seed`, or one next to it with which the case keeps its structure.
std::uint64_t seed_of_same_structure(const Case& c, std::uint64_t seed);

// All of an op.
struct Structures {
  std::span<const Structure> blank, alike, exact, lone;
};
Structures lstm_structures();     // structures_lstm.cc
Structures stacked_structures();  // structures_stacked.cc

// Parts that both files name.
namespace part {
constexpr bool all(const Place&, const Chosen&) { return true; }
constexpr bool one_sample(const Place& p, const Chosen& c) { return p.sample == c.sample; }
constexpr bool other_samples(const Place& p, const Chosen& c) { return p.sample != c.sample; }
constexpr bool first_step(const Place& p, const Chosen&) { return p.step == 0; }
constexpr bool last_step(const Place& p, const Chosen& c) { return p.step == c.last_step; }
constexpr bool before_last_step(const Place& p, const Chosen& c) { return p.step < c.last_step; }
constexpr bool after_first_step(const Place& p, const Chosen&) { return p.step > 0; }
constexpr bool one_step(const Place& p, const Chosen& c) { return p.step == c.step; }
constexpr bool other_steps(const Place& p, const Chosen& c) { return p.step != c.step; }
constexpr bool one_unit(const Place& p, const Chosen& c) { return p.unit == c.unit; }
constexpr bool other_units(const Place& p, const Chosen& c) { return p.unit != c.unit; }
constexpr bool one_gate(const Place& p, const Chosen& c) { return p.gate == c.gate; }
constexpr bool other_gates(const Place& p, const Chosen& c) { return p.gate != c.gate; }
// So that no result depends on what lies below the range alone.
constexpr bool every_second(const Place& p, const Chosen&) { return (p.step + p.sample + p.unit + p.column) % 2 == 0; }
constexpr bool input_weights(const Place& p, const Chosen&) { return p.role == Role::kW; }
constexpr bool recurrent_weights(const Place& p, const Chosen&) { return p.role == Role::kR; }
constexpr bool recurrent_weights_of_gate(const Place& p, const Chosen& c) {
  return p.role == Role::kR && p.gate == c.gate;
}
constexpr bool input_weights_of_gate(const Place& p, const Chosen& c) { return p.role == Role::kW && p.gate == c.gate; }

constexpr Place first_sample(Place p) { return p.sample = 0, p; }
constexpr Place two_samples(Place p) { return p.sample = p.sample == 1 ? 0 : p.sample, p; }
constexpr Place same_steps(Place p) { return p.step = 0, p; }
constexpr Place first_unit(Place p) { return p.unit = 0, p; }
constexpr Place two_units(Place p) { return p.unit = p.unit == 1 ? 0 : p.unit, p; }
constexpr Place first_gate(Place p) { return p.gate = 0, p; }
constexpr Place two_gates(Place p) { return p.gate = p.gate == 1 ? 0 : p.gate, p; }
constexpr Place symmetric(Place p) {
  if (p.role == Role::kR && p.column > p.unit) std::swap(p.column, p.unit);
  return p;
}
}  // namespace part

}  // namespace backgauge
