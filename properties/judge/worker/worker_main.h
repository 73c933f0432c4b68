// SPDX-License-Identifier: Apache-2.0
// The worker's side. A program that is started again as a worker calls this for its subcommand `worker`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/judge/worker/channel.h"
#include "reference/contract/backgauge.h"

namespace backgauge {

// A table, or nullptr and one line in `error`.
using OpenImplementation = std::function<const backgauge_implementation*(const std::string& name, std::string& error)>;

// The first step of a process that serves its parent over a channel and runs untrusted code: it ignores signals that
// are meant for the judge, records where it crashes, writes no core files, and ends with its parent.
Channel become_worker();

// Records in WorkerState which function of the implementation was entered or has returned.
void observe_call(const char* function, bool inside);

// On input the arguments after the word `worker`: the name of an implementation, and its memory limit in bytes. Serves
// requests until the judge is gone, then ends the process.
[[noreturn]] void worker_main(const std::vector<std::string>& arguments, const OpenImplementation& open);

}  // namespace backgauge
