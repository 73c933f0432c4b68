// SPDX-License-Identifier: Apache-2.0
// What the system says about processes and their threads.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace backgauge {

// How many threads a process has; 0 if the system does not report them. A thread that has been joined may still be
// counted for a moment.
std::size_t live_threads(pid_t process = getpid());

// The state of a thread, given its folder, /proc/PID/task/THREAD: 'R' if it runs, or would if there were a processor
// for it; '\0' if it has ended.
char thread_state(const std::string& folder);

// The content of a file of /proc; "" if it cannot be read.
std::string kernel_text(const std::string& path);

}  // namespace backgauge
