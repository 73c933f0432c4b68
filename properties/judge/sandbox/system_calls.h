// SPDX-License-Identifier: Apache-2.0
// seccomp: which system calls a process may make. Every other call is refused with EPERM, and its name is reported to
// the process that holds the report.
#pragma once

#include <set>
#include <string>

#include "properties/judge/sandbox/descriptor.h"

namespace backgauge {

// Whether this kernel lets a process give itself such a filter, with a report.
bool has_system_call_filter();

// Restricts the calling thread and the threads that it starts: they may compute, read files, start threads, and talk
// over the descriptor `socket`. `controls_devices`: ioctl() is allowed with every request. Returns the report. A call
// that is refused waits until the report is answered. Throws std::system_error.
Descriptor restrict_system_calls(int socket, bool controls_devices);

// Calls that were reported: the names of those that were refused, and the files that were made executable, with their
// paths. Those are calls that are allowed, and reported because the file may be closed again before anybody looks.
struct Reported {
  std::set<std::string> refused{}, executable{};
};

// Answers all calls that wait at the moment, and adds them. Not to be called by a process that is restricted.
void answer_reported(int report, Reported& reported);

}  // namespace backgauge
