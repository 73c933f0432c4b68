// SPDX-License-Identifier: Apache-2.0
// What a worker has started ends with it, whatever process group, session or parent it has by then: processes inherit
// their environment, and a worker's holds a mark. One that runs another program without this environment is found as
// long as its parents are.
#pragma once

#include <sys/types.h>

#include <string>

namespace backgauge {

// An entry of a worker's environment, "BACKGAUGE_WORKER=<process>.<number>.<ticks since boot>": another one at every
// call.
std::string new_worker_mark();

// The mark of this process, "" if it is none of a worker.
std::string own_worker_mark();

// Ends all that bear the mark or come from one that does, but this process. Does nothing where there is no /proc.
void end_marked(const std::string& mark);

}  // namespace backgauge
