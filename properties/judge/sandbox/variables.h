// SPDX-License-Identifier: Apache-2.0
// Which variables of the caller's environment a confined process gets.
#pragma once

#include <string_view>

namespace backgauge {

// Those that say how loaders, C libraries and libraries of computing load and compute. Not the rest: a caller's
// environment holds tokens and passwords.
bool concerns_libraries(std::string_view variable);

}  // namespace backgauge
