// SPDX-License-Identifier: Apache-2.0
// Implementations that are right but on one occasion: a shortcut for values with a structure, or another kernel for
// some sizes, that somebody got wrong. Whether a campaign comes to the occasion at all is what they ask.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "reference/contract/call.h"

namespace backgauge::saboteurs {

// What an occasion is recognised by: the inputs of a gradient that a case has, as numbers. Those that a forward makes
// are not among them.
struct Scene {
  backgauge_op op;
  backgauge_dtype dtype;
  backgauge_attributes attributes;
  Extents extents;
  std::map<std::string_view, std::vector<double>> values;
};
Scene scene_of(const Problem& problem);

struct Occasional {
  const char* id;
  const char* what;
  backgauge_op op;
  bool (*is_met)(const Scene&);
  // As `correct`, and every output a sixteenth too large on the occasion; where they are all 0 they are left unwritten.
  backgauge_implementation table;
};

// On input an implementation that claims everything and outlives all.
const std::vector<Occasional>& occasional_implementations(const backgauge_implementation& correct);

}  // namespace backgauge::saboteurs
