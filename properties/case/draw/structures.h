// SPDX-License-Identifier: Apache-2.0
// Values with a structure: special values in whole parts of tensors, as real programs pass them (no initial state, a
// gradient of the last step only, no biases), and as shortcuts of an implementation look for them.
#pragma once

#include <span>
#include <string_view>

#include "properties/case/draw/draft.h"

namespace backgauge {

struct Structure {
  const char* what;            // "h_prev and cs_prev 0"
  void (*impose)(Draft&);      // changes the drawn values
  bool chooses_saved = false;  // saved tensors are chosen, not computed by a forward pass
};

// The structures of kBlank, kAlike, kExact and kLone; none for all other profiles. The meaning of a case line depends
// on their number, so more structures must go into a new profile.
std::span<const Structure> structures_of(backgauge_op op, DataProfile data);

// The structure of a case: number seed % (number of structures of its profile). nullptr if the profile has none.
const Structure* structure_of(const Case& c);

// `seed`, or a seed near it with which the case keeps its structure.
std::uint64_t seed_of_same_structure(const Case& c, std::uint64_t seed);

// All structures of an op.
struct Structures {
  std::span<const Structure> blank, alike, exact, lone;
};

// Parts of tensors that the structures of several ops use.
namespace parts {
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
// Only every second element, so that no result depends on subnormal values alone.
constexpr bool every_second(const Place& p, const Chosen&) { return (p.step + p.sample + p.unit + p.column) % 2 == 0; }
constexpr bool input_weights(const Place& p, const Chosen&) { return p.part == Part::kW; }
constexpr bool recurrent_weights(const Place& p, const Chosen&) { return p.part == Part::kR; }
constexpr bool recurrent_weights_of_gate(const Place& p, const Chosen& c) {
  return p.part == Part::kR && p.gate == c.gate;
}
constexpr bool input_weights_of_gate(const Place& p, const Chosen& c) { return p.part == Part::kW && p.gate == c.gate; }

constexpr Place first_sample(Place p) { return p.sample = 0, p; }
constexpr Place two_samples(Place p) { return p.sample = p.sample == 1 ? 0 : p.sample, p; }
constexpr Place same_steps(Place p) { return p.step = 0, p; }
constexpr Place first_unit(Place p) { return p.unit = 0, p; }
constexpr Place two_units(Place p) { return p.unit = p.unit == 1 ? 0 : p.unit, p; }
constexpr Place first_gate(Place p) { return p.gate = 0, p; }
constexpr Place two_gates(Place p) { return p.gate = p.gate == 1 ? 0 : p.gate, p; }
constexpr Place symmetric(Place p) {
  if (p.part == Part::kR && p.column > p.unit) std::swap(p.column, p.unit);
  return p;
}
}  // namespace parts

}  // namespace backgauge
