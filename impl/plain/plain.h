// SPDX-License-Identifier: Apache-2.0
// The readable implementation, linked into a program. As a shared library it exports backgauge_entry() instead.
#pragma once

#include "reference/contract/backgauge.h"

namespace backgauge {

// Never nullptr. `host` must live as long as the program; the first one given is kept.
const backgauge_implementation* plain_entry(const backgauge_host* host);

}  // namespace backgauge
