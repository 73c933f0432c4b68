// SPDX-License-Identifier: Apache-2.0
// Scripted implementations that a worker opens by the name of what they do, for its tests.
#pragma once

#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge::testing {

// As OpenImplementation. "right" misbehaves in nothing; the others are rows of misbehaving.cc.
const backgauge_implementation* open_scripted(const std::string& name, std::string& error);

}  // namespace backgauge::testing
