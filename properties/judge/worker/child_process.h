// SPDX-License-Identifier: Apache-2.0
// A process that this one has started, such as a worker. It is in a process group of its own, so that
// Ctrl-C at a terminal does not reach it, and it ends with its ChildProcess, together with all that it has started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/judge/sandbox/descriptor.h"

namespace backgauge {

// How a process has ended.
struct Ending {
  bool by_signal = false;
  int number = 0;  // the signal, or the exit status; -1 if the status is unknown
};

// "exit: status 3 <place>", "crash: SIGSEGV <place>".
std::string ending_text(const Ending& ending, const std::string& place);

class ChildProcess {
 public:
  struct Start {
    std::string program;                               // a path, or a name that is searched in PATH
    std::vector<std::string> arguments;                // the first is the name that the process gets
    std::map<std::string, std::string> variables{};    // added to what it inherits, or replacing some of it
    std::function<bool(std::string_view)> inherits{};  // which variables of this process's environment; empty: all
    std::vector<std::pair<int, int>> descriptors{};    // of this process, and their numbers there: at most kDescriptors

    // It gets SIGKILL when the thread that starts it ends. For a program that would not notice that its parent is gone.
    bool ends_with_thread = false;
  };
  static constexpr std::size_t kDescriptors = 8;

  // The process inherits the standard streams and `descriptors`, and no other (before Linux 5.9, which has no call for
  // that, others that are not close-on-exec). No signal is blocked in it, and ignored signals stay ignored. Throws
  // std::system_error if it cannot be started. If SIGCHLD is ignored, its exit status is not known.
  explicit ChildProcess(const Start& start);
  ~ChildProcess();  // kill()
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return process_; }

  // Readable, for poll(), once the process has ended; -1 if the system has no such descriptor.
  int handle() const { return handle_.get(); }

  // How the process has ended; nullopt if it has not, or not by the deadline. All that it has started ends with it.
  const std::optional<Ending>& ending();
  const std::optional<Ending>& ending_by(std::chrono::steady_clock::time_point deadline);

  // To be called when it has been seen to end: waits for some seconds.
  const std::optional<Ending>& ending_soon();

  // Ends it. A process that the kernel does not end within some seconds is not waited for.
  void kill();

  // Stops it and the rest of its group, whatever their threads do, and continues them. Returns when all of its threads
  // have stopped, or it has ended.
  void suspend() const;
  void resume() const;

 private:
  pid_t process_ = -1;
  Descriptor handle_;
  std::string mark_;  // process_tree.h
  std::optional<Ending> ending_;
};

}  // namespace backgauge
