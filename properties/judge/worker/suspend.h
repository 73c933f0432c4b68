// SPDX-License-Identifier: Apache-2.0
// Puts a child and the rest of its process group to sleep, whatever their threads are doing, and wakes them.
#pragma once

#include <sys/types.h>

namespace backgauge {

// Returns when all threads of the child have stopped, or it has ended; for one who sleeps already at once. It is not
// reaped.
void suspend(pid_t child);

void wake(pid_t child);

}  // namespace backgauge
