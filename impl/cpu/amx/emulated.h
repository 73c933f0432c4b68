// SPDX-License-Identifier: Apache-2.0
// A BlockProduct computed without AMX. Only for BACKGAUGE_CPU=amx-emulated, never chosen automatically.
#pragma once

#include "impl/cpu/amx/block_product.h"

namespace backgauge::cpu::amx {

void multiply_emulated(const BlockProduct& product);

}  // namespace backgauge::cpu::amx
