// SPDX-License-Identifier: Apache-2.0
// Whether this process may use AMX for bfloat16.
#pragma once

#include <string_view>

namespace backgauge::cpu {

// "" if it may, otherwise what is missing. Linux lends the registers of tiles to who asks: the first call does, for the
// whole process.
std::string_view amx_missing();

}  // namespace backgauge::cpu
