// SPDX-License-Identifier: Apache-2.0
// One worker: this program, started again as `<program> worker ...` in a process group of its own, with a channel to
// it. Everything that it prints is collected.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/judge/worker/channel.h"

namespace backgauge {

// How a process has ended.
struct Ending {
  bool by_signal = false;
  int number = 0;  // the signal, or the exit status; -1 if the status is unknown
};

class WorkerProcess {
 public:
  // Starts it with `arguments` after the word `worker`. Throws std::system_error. If SIGCHLD is ignored, its exit
  // status is not known.
  explicit WorkerProcess(const std::vector<std::string>& arguments);
  ~WorkerProcess();  // ends the process
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Channel& channel() { return channel_; }
  pid_t id() const { return process_; }

  // Waits until a message can be received or the channel is closed: true. False if the process has ended or the time is
  // up.
  bool wait(std::chrono::steady_clock::time_point deadline);

  // How the process has ended; nullopt if it has not. To be called when it has closed its side of the channel.
  const std::optional<Ending>& ending();
  const std::optional<Ending>& ending_soon();
  void kill();  // also all processes that it has started

  // The number of bytes that were printed since the last call, and the first of them.
  struct Printed {
    std::uint64_t bytes = 0;
    std::string beginning;
  };
  Printed take_printed();

  // The numbers of descriptors in the worker.
  static constexpr int kSocket = 3, kMemory = 4;

 private:
  WorkerProcess(const std::vector<std::string>& arguments, Channel::Ends other);
  void drain();

  Channel channel_;
  Descriptor printed_pipe_;
  Printed printed_;
  std::string mark_;  // process_tree.h
  pid_t process_ = -1;
  std::optional<Ending> ending_;
};

}  // namespace backgauge
