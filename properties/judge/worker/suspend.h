// SPDX-License-Identifier: Apache-2.0
// Stops a child and the rest of its process group, whatever their threads do, and continues them.
#pragma once

#include <sys/types.h>

namespace backgauge {

// Returns when all threads of the child have stopped or it has ended; at once if it is stopped already. The child is
// not reaped.
void suspend(pid_t child);

void wake(pid_t child);

}  // namespace backgauge
