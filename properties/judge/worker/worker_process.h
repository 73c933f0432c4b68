// SPDX-License-Identifier: Apache-2.0
// One worker: this program once more, as `<program> worker ...`, in a process group of its own, with a channel to it.
// All that it prints is collected here.
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
  int number = 0;  // of the signal; the exit status, -1 if nobody has kept it
};

class WorkerProcess {
 public:
  // Started with `arguments` after the word `worker`. Throws std::system_error. SIGCHLD must not be ignored, or how it
  // ends is not known.
  explicit WorkerProcess(const std::vector<std::string>& arguments);
  ~WorkerProcess();  // ends it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Channel& channel() { return channel_; }
  pid_t id() const { return process_; }

  // Waits until the channel has something to say, if only that the other side is gone: true. False if the process has
  // ended, or the time is up.
  bool wait(std::chrono::steady_clock::time_point deadline);

  // Whether it has ended, and how; for one that has closed its side of the channel, and is about to.
  const std::optional<Ending>& ending();
  const std::optional<Ending>& ending_soon();
  void kill();  // and all that it has started

  // What has been printed since the last call: how much, and its beginning.
  struct Printed {
    std::uint64_t bytes = 0;
    std::string beginning;
  };
  Printed take_printed();

  // As the worker itself finds them.
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
