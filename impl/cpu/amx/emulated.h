// SPDX-License-Identifier: Apache-2.0
// amx::multiply() without AMX. Only for BACKGAUGE_CPU=amx-emulated, never chosen automatically.
#pragma once

#include "impl/cpu/amx/multiply.h"

namespace backgauge::cpu::amx {

void multiply_emulated(const BlockProduct& product);

}  // namespace backgauge::cpu::amx
