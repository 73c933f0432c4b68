// SPDX-License-Identifier: Apache-2.0
#include "ci/run/process/interrupt.h"

#include <csignal>

namespace backgauge::cli {
namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void request_stop(int signal) {
  requested = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  requested = 0;
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}
InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool interrupted() { return requested != 0; }

}  // namespace backgauge::cli
