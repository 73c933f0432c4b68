// SPDX-License-Identifier: Apache-2.0
// An implementation that crashes ends the process. Before that, the case is printed on stderr, so that it can be run
// alone, in a debugger.
#pragma once

#include <cstddef>
#include <string>

namespace backgauge::cli {

// Handlers for SIGSEGV, SIGBUS, SIGABRT, SIGFPE and SIGILL, where nobody (a sanitizer) has any yet.
void install_crash_report();

// The calling thread judges `line` while this lives. Nothing happens where more than 1024 live already.
class InFlight {
 public:
  explicit InFlight(const std::string& line);
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::size_t slot_;
};

}  // namespace backgauge::cli
