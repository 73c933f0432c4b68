// SPDX-License-Identifier: Apache-2.0
// Counts the threads of a process; 0 if the system does not report them. A thread that has been joined may still be
// counted for a moment.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace backgauge {

std::size_t live_threads();  // of this one
std::size_t live_threads(pid_t process);

}  // namespace backgauge
