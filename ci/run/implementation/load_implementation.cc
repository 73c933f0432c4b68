// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/load_implementation.h"

#include <algorithm>

#include "ci/options/command_error.h"
#include "ci/run/implementation/python.h"
#include "impl/registry.h"
#include "properties/saboteurs/hostile/hostile.h"
#include "properties/saboteurs/variant.h"

namespace backgauge::cli {

const backgauge_implementation& load_implementation(const std::string& name) {
  if (name.starts_with(kSaboteurPrefix)) {
    const auto* saboteur = saboteurs::find_implementation(name.substr(kSaboteurPrefix.size()));
    if (saboteur == nullptr)
      throw CommandError{kNotLoaded, name + ": unknown saboteur; `backgauge self --json` lists the ids"};
    return *saboteur;
  }
  if (name.starts_with(kHostilePrefix)) {
    for (const auto list : {saboteurs::hostile_implementations, saboteurs::correct_twins}) {
      const auto& all = list(load_implementation("plain"));
      const auto found = std::ranges::find(all, name.substr(kHostilePrefix.size()), &saboteurs::Hostile::id);
      if (found != all.end()) return found->table;
    }
    throw CommandError{kNotLoaded, name + ": unknown hostile plug-in; see properties/saboteurs/hostile"};
  }
  if (is_python_file(name)) throw CommandError{kNotLoaded, name + ": a Python file runs in processes of its own only"};
  std::string error;
  const backgauge_implementation* implementation = open_implementation(name, error);
  if (implementation == nullptr) throw CommandError{kNotLoaded, error};
  return *implementation;
}

}  // namespace backgauge::cli
