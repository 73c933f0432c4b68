// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "properties/judge/call/printable.h"
#include "properties/judge/sandbox/variables.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr const char* kConfined = "--confined";

constexpr std::size_t kBeginning = 120;  // bytes kept of what is printed: one line

// The socket is closed as soon as a process ends, unless its children hold it open. Where the process has no handle, it
// is checked as often.
constexpr std::chrono::milliseconds kSocketPoll{50};

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

// Without the folder that it is in. The process chose it, and it may hold anything.
std::string shown(const std::string& path) {
  return printable(std::filesystem::path(path).filename().string(), kShownOfName);
}

// The shared libraries in the memory of a process, without the folders that they are in.
std::set<std::string> mapped_libraries(pid_t process) {
  std::set<std::string> out;
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    const std::string name = shown(line.substr(path));
    if (name.ends_with(".so") || name.find(".so.") != std::string::npos) out.insert(name);
  }
  return out;
}

ChildProcess::Start start_of(const WorkerProgram& program, const std::vector<std::string>& arguments,
                             const Channel::Ends& ends, const SharedBlock* block, const Descriptor& input,
                             const Descriptor& printed) {
  ChildProcess::Start start{.program = program.program, .arguments = program.words, .variables = program.variables};
  start.arguments.insert(start.arguments.end(), arguments.begin(), arguments.end());
  if (program.confinement) {
    append(*program.confinement, start.arguments);
    start.inherits = [named = program.confinement->variables](std::string_view variable) {
      return concerns_libraries(variable) || std::ranges::find(named, variable) != named.end();
    };
  }
  start.descriptors = {{input.get(), STDIN_FILENO},
                       {printed.get(), STDOUT_FILENO},
                       {printed.get(), STDERR_FILENO},
                       {ends.socket.get(), WorkerProcess::kSocket},
                       {ends.memory.get(), WorkerProcess::kMemory}};
  if (block != nullptr) start.descriptors.emplace_back(block->file(), WorkerProcess::kBlock);
  return start;
}

}  // namespace

void append(const Confinement& confinement, std::vector<std::string>& arguments) {
  arguments.emplace_back(kConfined);
  arguments.insert(arguments.end(), confinement.readable.begin(), confinement.readable.end());
}

std::optional<Confinement> take_confinement(std::vector<std::string>& arguments) {
  const auto word = std::ranges::find(arguments, kConfined);
  if (word == arguments.end()) return std::nullopt;
  Confinement out{.readable = {word + 1, arguments.end()}};
  arguments.erase(word, arguments.end());
  return out;
}

WorkerProcess::WorkerProcess(const WorkerProgram& program, const std::vector<std::string>& arguments)
    : WorkerProcess(program, arguments, Channel::Ends(), Pipe()) {}

WorkerProcess::WorkerProcess(const WorkerProgram& program, const std::vector<std::string>& arguments,
                             Channel::Ends other, Pipe pipe)
    : channel_(Channel::open(other)),
      block_(program.confinement ? std::make_unique<SharedBlock>(SharedBlock::make_file()) : nullptr),
      printed_pipe_(std::move(pipe.read)),
      child_(start_of(program, arguments, other, block_.get(), Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)),
                      pipe.write)) {
  if (!program.confinement) return;
  other.socket.close();  // or the end of the process would not be seen
  confined_.emplace(channel_.socket());
  own_libraries_ = mapped_libraries(child_.id());
  confined_->let_go();
}

WorkerProcess::Pipe::Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(errno, "worker: a pipe");
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
  fcntl(read.get(), F_SETFL, O_NONBLOCK);
}

bool WorkerProcess::wait(Clock::time_point deadline) {
  for (;;) {
    // Asked before the socket is: what the process sent before it ended is seen then.
    const bool ended = child_.ending().has_value();
    const auto left =
        ended ? 0ms : std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()), 0ms);
    const auto patience = child_.handle() < 0 ? std::min(left, kSocketPoll) : left;
    pollfd watched[] = {{channel_.socket(), POLLIN, 0},
                        {child_.handle(), POLLIN, 0},
                        {printed_pipe_.get(), POLLIN, 0},
                        {confined_ ? confined_->report() : -1, POLLIN, 0}};
    if (poll(watched, std::size(watched), static_cast<int>(patience.count())) < 0 && errno != EINTR) return false;
    if (watched[2].revents != 0) drain();
    if ((watched[3].revents & POLLIN) != 0) confined_->answer();
    if (watched[0].revents != 0) return true;
    if (left.count() == 0) return false;
  }
}

void WorkerProcess::drain() {
  char buffer[65536];  // what a pipe holds
  // Limited, so that a process that prints faster than this reads does not delay the timeout.
  constexpr int kMostReads = 16;
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = read(printed_pipe_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) printed_pipe_.close();  // no process has it open for writing any more
    if (got <= 0) return;
    const std::size_t room = kBeginning - printed_.beginning.size();
    printed_.beginning.append(buffer, std::min(static_cast<std::size_t>(got), room));
    printed_.bytes += static_cast<std::uint64_t>(got);
  }
}

std::set<std::string> WorkerProcess::refused() const {
  return confined_ ? confined_->reported().refused : std::set<std::string>{};
}

// Those that are there now, and all that have been.
std::set<std::string> WorkerProcess::libraries() const {
  if (!confined_) return {};
  std::set<std::string> out = mapped_libraries(child_.id());
  for (const std::string& file : confined_->reported().executable) out.insert(shown(file));
  for (const std::string& own : own_libraries_) out.erase(own);
  return out;
}

WorkerProcess::Printed WorkerProcess::take_printed() {
  if (printed_pipe_.get() >= 0) drain();
  return std::exchange(printed_, {});
}

}  // namespace backgauge
