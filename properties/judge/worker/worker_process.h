// SPDX-License-Identifier: Apache-2.0
// One worker: this program, started again as `<program> worker ...`, or another one that serves the same messages, with
// a channel to it. Everything that it prints is collected.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "properties/judge/sandbox/confinement.h"
#include "properties/judge/worker/channel.h"
#include "properties/judge/worker/child_process.h"
#include "properties/judge/worker/shared_block.h"

namespace backgauge {

// The program that becomes a worker.
struct WorkerProgram {
  std::string program = "/proc/self/exe";                    // as ChildProcess::Start
  std::vector<std::string> words = {"backgauge", "worker"};  // the name that it gets, and what precedes its arguments
  std::map<std::string, std::string> variables{};            // added to its environment

  std::optional<Confinement> confinement{};  // how the worker confines itself before it opens the implementation
};

// What a WorkerProcess appends to the arguments of a worker that is to be confined; and takes it off again, nullopt if
// there is nothing of it.
void append(const Confinement& confinement, std::vector<std::string>& arguments);
std::optional<Confinement> take_confinement(std::vector<std::string>& arguments);

class WorkerProcess {
 public:
  // Starts the program with `arguments` after its own words. Throws std::system_error.
  WorkerProcess(const WorkerProgram& program, const std::vector<std::string>& arguments);

  Channel& channel() { return channel_; }
  SharedBlock* block() const { return block_.get(); }  // of a confined process, else nullptr
  ChildProcess& child() { return child_; }
  const ChildProcess& child() const { return child_; }

  // Waits until a message can be received or the channel is closed: true. False if the process has ended or the time is
  // up.
  bool wait(std::chrono::steady_clock::time_point deadline);

  // The number of bytes that were printed since the last call, and the first of them.
  struct Printed {
    std::uint64_t bytes = 0;
    std::string beginning;
  };
  Printed take_printed();

  // What a confined process has tried, and was refused; and the libraries that it has mapped since it was confined,
  // ready to be shown.
  std::set<std::string> refused() const;
  std::set<std::string> libraries() const;

  // The numbers of descriptors in the worker.
  static constexpr int kSocket = 3, kMemory = 4, kBlock = 5;

 private:
  struct Pipe {
    Descriptor read, write;
    Pipe();
  };
  WorkerProcess(const WorkerProgram& program, const std::vector<std::string>& arguments, Channel::Ends other,
                Pipe pipe);
  void drain();

  Channel channel_;
  std::unique_ptr<SharedBlock> block_;
  Descriptor printed_pipe_;
  Printed printed_;
  ChildProcess child_;
  std::optional<Confined> confined_;
  std::set<std::string> own_libraries_;
};

}  // namespace backgauge
