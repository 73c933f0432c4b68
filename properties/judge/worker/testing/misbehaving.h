// SPDX-License-Identifier: Apache-2.0
// Scripted implementations that a worker opens by the name of what they do, for its tests.
#pragma once

#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge::testing {

// An OpenImplementation. "right" does not misbehave; the other names are listed in misbehaving.cc.
const backgauge_implementation* open_scripted(const std::string& name, std::string& error);

}  // namespace backgauge::testing
