// SPDX-License-Identifier: Apache-2.0
// Ends all processes that a worker has started, whatever their process group, session or parent: processes inherit
// their environment, and that of a worker contains a mark. A process that has removed the mark is found as long as its
// parents exist.
#pragma once

#include <sys/types.h>

#include <string>

namespace backgauge {

// A new entry for the environment of a worker, "BACKGAUGE_WORKER=<process>.<number>.<ticks since boot>". Every call
// returns another one.
std::string new_worker_mark();

// The mark of this process; "" if no worker has started it.
std::string own_worker_mark();

// Ends all processes that have the mark or descend from one that has it, except this one. Does nothing without /proc.
void end_marked(const std::string& mark);

}  // namespace backgauge
