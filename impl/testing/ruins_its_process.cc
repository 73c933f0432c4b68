// SPDX-License-Identifier: Apache-2.0
// Right in every output. Then it changes the working folder, closes stdout if the process serves it alone, and makes
// the process crash when it ends.
#include <unistd.h>

#include <cstdlib>

#include "impl/testing/wrapped_plain.h"

namespace {

struct EndsBadly {
  ~EndsBadly() { std::abort(); }
};
EndsBadly last;

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  if (chdir("/") != 0) return BACKGAUGE_INTERNAL;
  if (std::getenv("BACKGAUGE_WORKER") != nullptr) {
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
  }
  return backgauge::testing::plain()->run(call, message);
}

}  // namespace

BACKGAUGE_WRAPPED_PLAIN("ruins_its_process", run)
