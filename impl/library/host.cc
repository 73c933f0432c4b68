// SPDX-License-Identifier: Apache-2.0
#include "impl/library/exported.h"
#include "reference/contract/validate.h"

BACKGAUGE_EXPORTED const backgauge_host* backgauge_library_host(void) { return &backgauge::host(); }
