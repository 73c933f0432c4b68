// SPDX-License-Identifier: Apache-2.0
// The worker's side: the program that is started again calls this for its subcommand `worker`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge {

// A table, or nullptr and in `error` one line that says what is wrong.
using OpenImplementation = std::function<const backgauge_implementation*(const std::string& name, std::string& error)>;

// On input what follows the word `worker`: the name of an implementation, and its memory limit in bytes. Serves until
// the judge is gone, then ends the process.
[[noreturn]] void worker_main(const std::vector<std::string>& arguments, const OpenImplementation& open);

}  // namespace backgauge
