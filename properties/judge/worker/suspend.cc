// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/suspend.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

namespace backgauge {

void suspend(pid_t child) {
  kill(-child, SIGSTOP);
  kill(child, SIGSTOP);  // it may have left its group
  // Its report is left where it is until the child goes on: one who sleeps already is not waited for again.
  siginfo_t seen{};
  while (waitid(P_PID, static_cast<id_t>(child), &seen, WSTOPPED | WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

void wake(pid_t child) {
  kill(-child, SIGCONT);
  kill(child, SIGCONT);
}

}  // namespace backgauge
