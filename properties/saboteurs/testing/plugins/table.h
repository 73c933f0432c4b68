// SPDX-License-Identifier: Apache-2.0
// The one function of the shared library from which the plug-ins of this folder get their variants.
#pragma once

#include "reference/contract/backgauge.h"

// The table of the variant with this id; NULL if there is none.
extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_variant_table(
    const char* id);
