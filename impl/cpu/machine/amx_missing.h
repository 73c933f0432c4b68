// SPDX-License-Identifier: Apache-2.0
// Finds out whether this process may use AMX for bfloat16.
#pragma once

#include <string_view>

namespace backgauge::cpu {

// "" if it may, otherwise what is missing. Linux grants the tile registers on request; the first call makes that
// request for the whole process.
std::string_view amx_missing();

}  // namespace backgauge::cpu
