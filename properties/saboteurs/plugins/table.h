// SPDX-License-Identifier: Apache-2.0
// The one function of the shared library that the plug-ins of this folder have their variants from.
#pragma once

#include "reference/contract/backgauge.h"

// The table of the variant with this id; NULL if there is none.
extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_variant_table(
    const char* id);
