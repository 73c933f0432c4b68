// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/suspend.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

namespace backgauge {

void suspend(pid_t child) {
  kill(-child, SIGSTOP);
  kill(child, SIGSTOP);  // it may have left its group
  // The status is not consumed until the child continues, so that a second call for a stopped child returns at once.
  siginfo_t seen{};
  while (waitid(P_PID, static_cast<id_t>(child), &seen, WSTOPPED | WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

void wake(pid_t child) {
  kill(-child, SIGCONT);
  kill(child, SIGCONT);
}

}  // namespace backgauge
