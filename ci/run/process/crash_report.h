// SPDX-License-Identifier: Apache-2.0
// An implementation that crashes ends the process. Before that, the case is printed on stderr, so that it can be run
// alone, in a debugger.
#pragma once

#include <cstddef>
#include <string>

namespace backgauge::cli {

// Installs handlers for SIGSEGV, SIGBUS, SIGABRT, SIGFPE and SIGILL, unless a sanitizer has already.
void install_crash_report();

// The calling thread judges `line` during the lifetime of this object. Has no effect if 1024 of them exist already.
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
