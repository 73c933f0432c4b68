// SPDX-License-Identifier: Apache-2.0
// The tiles of all products: about half of the code of this folder, which would otherwise be compiled for each op anew.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/kernels/tiles.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#define BACKGAUGE_CPU_COMPILES_TILES
#include "impl/cpu/kernels/tiles-inl.h"
