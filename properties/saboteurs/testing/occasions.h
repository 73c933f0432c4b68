// SPDX-License-Identifier: Apache-2.0
// Implementations that are correct except on one occasion, like a faulty shortcut for values with a structure, or a
// faulty kernel for some sizes. They test whether a campaign contains the occasion at all.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "reference/contract/call.h"

namespace backgauge::saboteurs {

// What decides about an occasion: the inputs of the gradient that belong to the case, as numbers. Inputs that the
// forward op computes are not among them.
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
  // Like `correct`; on the occasion, every output is a sixteenth too large, or left unwritten if all outputs are 0.
  backgauge_implementation table;
};

// correct: an implementation that claims everything and outlives all of these.
const std::vector<Occasional>& occasional_implementations(const backgauge_implementation& correct);

}  // namespace backgauge::saboteurs
