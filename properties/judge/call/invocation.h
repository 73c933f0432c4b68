// SPDX-License-Identifier: Apache-2.0
// One call of a function of an implementation: its answer, and what it changes in the calling thread.
#pragma once

#include <functional>

#include "properties/judge/call/run.h"

namespace backgauge {

using CallObserver = std::function<void(const char* function, bool inside)>;

// Calls `body` as `function` (prepare, run, forward, dropout_mask). On output `result` holds the function, status and
// message. An exception, a value that is not a backgauge_status, or a changed floating-point environment is recorded as
// a violation; the environment is restored. Throws nothing.
void invoke(const char* function, const CallObserver& observer, RunResult& result,
            const std::function<backgauge_status(backgauge_message&)>& body);

}  // namespace backgauge
