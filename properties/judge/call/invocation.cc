// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/invocation.h"

#include <fmt/format.h>

#include <new>

#include "properties/judge/call/float_environment.h"
#include "properties/judge/call/printable.h"

namespace backgauge {

void invoke(const char* function, const CallObserver& observer, RunResult& result,
            const std::function<backgauge_status(backgauge_message&)>& body) {
  backgauge_message message{};
  result.function = function;
  const FloatEnvironment before = FloatEnvironment::now();
  if (observer) observer(function, true);
  try {
    result.status = body(message);
    const auto answer = static_cast<int>(result.status);
    if (answer < BACKGAUGE_OK || answer > BACKGAUGE_INTERNAL) {
      result.status = BACKGAUGE_INTERNAL;
      result.violations.push_back(fmt::format("{} returned {}, which is not a backgauge_status", function, answer));
    }
  } catch (const std::bad_alloc&) {
    result.status = BACKGAUGE_OUT_OF_MEMORY;
    result.violations.push_back(fmt::format("{} threw std::bad_alloc", function));
  } catch (...) {  // thrown by the implementation, whose rules forbid it
    result.status = BACKGAUGE_INTERNAL;
    result.violations.push_back(fmt::format("{} threw an exception", function));
  }
  if (observer) observer(function, false);
  const std::string changes = before.changes(FloatEnvironment::now());
  before.restore();
  if (!changes.empty()) {
    result.violations.push_back(fmt::format("{} left the floating-point environment changed: {}", function, changes));
  }
  message.text[sizeof message.text - 1] = '\0';
  result.message = printable(message.text, kShownOfMessage);
}

}  // namespace backgauge
