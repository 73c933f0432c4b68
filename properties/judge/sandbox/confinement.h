// SPDX-License-Identifier: Apache-2.0
// Confines a process that serves an implementation nobody vouches for: it may compute, and read the files that an
// implementation is loaded from. properties/UNTRUSTED.md gives the details and reasons.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/sandbox/descriptor.h"
#include "properties/judge/sandbox/system_calls.h"

namespace backgauge {

// How an implementation is to be confined.
struct Confinement {
  std::vector<std::string> readable{};   // folders and files, besides those of the system's libraries
  std::vector<std::string> variables{};  // of the judge's environment, besides those of variables.h
};

// The protections that this machine lacks: "Landlock (files): Function not implemented", ...
std::vector<std::string> lacking_protections();

// Confines this process, whose only thread must be the calling one, with all protections that are not lacking: gives up
// the privileges of root, and leaves files, system calls and `socket`. Then waits for the judge to let it go on. Throws
// std::system_error.
void confine_this_process(const Confinement& confinement, int socket);

// The judge's side of the same socket. The other process has been confined, and waits for let_go().
class Confined {
 public:
  // If the process ended before it was confined, there is no report.
  explicit Confined(int socket);
  void let_go();

  // The report of calls: its descriptor is readable if a call waits for an answer; -1: there is no report.
  int report() const { return report_.get(); }
  void answer();
  const Reported& reported() const { return reported_; }

 private:
  int socket_;
  Descriptor report_;
  Reported reported_;
};

}  // namespace backgauge
