// SPDX-License-Identifier: Apache-2.0
// The functions that a library exports: those of its C header, and the two of a plug-in.
#pragma once

#include "reference/contract/backgauge_library.h"

#define BACKGAUGE_EXPORTED extern "C" __attribute__((visibility("default")))
