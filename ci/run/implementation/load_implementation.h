// SPDX-License-Identifier: Apache-2.0
// From the name of an implementation to its table.
#pragma once

#include <string>
#include <string_view>

#include "reference/contract/backgauge.h"

namespace backgauge::cli {

inline constexpr std::string_view kSaboteurPrefix = "saboteur:", kHostilePrefix = "hostile:";

// A built-in implementation, the path of a shared library, saboteur:ID or hostile:ID, opened in this process;
// candidate.h opens it in others. Throws CommandError(kNotLoaded).
const backgauge_implementation& load_implementation(const std::string& name);

}  // namespace backgauge::cli
