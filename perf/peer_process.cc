// SPDX-License-Identifier: Apache-2.0
#include "perf/peer_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// No answer of this protocol is longer.
constexpr std::size_t kLongestLine = 1 << 20;

}  // namespace

PeerProcess::PeerProcess(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment) try {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  socket_ = Descriptor(sockets[0]);
  const Descriptor theirs(sockets[1]);
  child_ = std::make_unique<ChildProcess>(ChildProcess::Start{
      .program = command.at(0),
      .arguments = command,
      .variables = environment,
      .descriptors = {{theirs.get(), STDIN_FILENO}, {theirs.get(), STDOUT_FILENO}},
      .ends_with_thread = true,
  });
} catch (const std::system_error& error) {
  throw PeerError(error.what());
}

nlohmann::json PeerProcess::hear(std::chrono::seconds patience) {
  const Clock::time_point end_of_patience = Clock::now() + patience;
  for (;;) {
    if (const std::size_t newline = unread_.find('\n'); newline != unread_.npos) {
      const std::string line = unread_.substr(0, newline);
      unread_.erase(0, newline + 1);
      nlohmann::json said = nlohmann::json::parse(line, nullptr, false);
      if (!said.is_object()) fail(fmt::format("sent a line that is not a JSON object: {:.80}", line));
      return said;
    }
    if (unread_.size() > kLongestLine) fail("sent a line without an end");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_of_patience - Clock::now()).count();
    pollfd waiting{socket_.get(), POLLIN, 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) fail(fmt::format("has not answered within {} s", patience.count()));
    char bytes[4096];
    const ssize_t count = recv(socket_.get(), bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("ended without an answer");
    unread_.append(bytes, static_cast<std::size_t>(count));
  }
}

nlohmann::json PeerProcess::ask(const nlohmann::json& request, std::chrono::seconds patience) {
  if (socket_.get() < 0) throw PeerError("is gone");
  const std::string line = request.dump() + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("ended before it was asked");
    sent += static_cast<std::size_t>(count);
  }
  return hear(patience);
}

void PeerProcess::fail(const std::string& why) {
  socket_.close();
  child_->kill();
  throw PeerError(why);
}

void PeerProcess::pause() const {
  if (socket_.get() >= 0) child_->suspend();
}

void PeerProcess::resume() const {
  if (socket_.get() >= 0) child_->resume();
}

}  // namespace backgauge
