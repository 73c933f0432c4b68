// SPDX-License-Identifier: Apache-2.0
// The worker's side: the program that is started again calls this for its subcommand `worker`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/judge/worker/channel.h"
#include "reference/contract/backgauge.h"

namespace backgauge {

// A table, or nullptr and in `error` one line that says what is wrong.
using OpenImplementation = std::function<const backgauge_implementation*(const std::string& name, std::string& error)>;

// What a process does first that is to serve its parent over a channel and to hold what others have written: what is
// meant for the user's program does not reach it, it says where it crashed, leaves no cores, and ends with its parent.
Channel become_worker();

// Notes, for a crash, which function of the implementation has been entered or left.
void observe_call(const char* function, bool inside);

// On input what follows the word `worker`: the name of an implementation, and its memory limit in bytes. Serves until
// the judge is gone, then ends the process.
[[noreturn]] void worker_main(const std::vector<std::string>& arguments, const OpenImplementation& open);

}  // namespace backgauge
