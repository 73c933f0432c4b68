// SPDX-License-Identifier: Apache-2.0
// How many threads this process has; 0 where the system does not say. One that has been joined may still be counted for
// a moment.
#pragma once

#include <cstddef>

namespace backgauge {

std::size_t live_threads();

}  // namespace backgauge
