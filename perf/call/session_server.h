// SPDX-License-Identifier: Apache-2.0
// The other side of SessionProcess: the process that computes.
#pragma once

#include <string>
#include <vector>

#include "perf/call/timed_parts.h"
#include "properties/judge/worker/worker_main.h"

namespace backgauge {

// session_main() serves a session to its end; the arguments are those after the word `worker`. parts: those of the
// implementation that `open` has opened, if its language has any.
bool is_session(const std::vector<std::string>& arguments);
[[noreturn]] void session_main(std::vector<std::string> arguments, const OpenImplementation& open,
                               const FindTimedParts& parts = {});

}  // namespace backgauge
