// SPDX-License-Identifier: Apache-2.0
// What amx::multiply() does, without AMX: for BACKGAUGE_CPU=amx-emulated, never chosen by itself.
#pragma once

#include "impl/cpu/amx.h"

namespace backgauge::cpu::amx {

void multiply_emulated(const BlockProduct& product);

}  // namespace backgauge::cpu::amx
