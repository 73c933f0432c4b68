// SPDX-License-Identifier: Apache-2.0
#include "perf/peer_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "properties/judge/worker/suspend.h"

namespace backgauge {
namespace {

using Clock = std::chrono::steady_clock;

// No answer of this protocol is longer.
constexpr std::size_t kLongestLine = 1 << 20;

// In the child: nothing here may allocate memory or throw.
[[noreturn]] void become(int socket, char* const* arguments, char* const* environment, pid_t parent) {
  setpgid(0, 0);  // Ctrl-C goes to the parent, which then ends its peers
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr int kNotStarted = 127;
  if (getppid() != parent) _exit(kNotStarted);
  if (dup2(socket, STDIN_FILENO) < 0 || dup2(socket, STDOUT_FILENO) < 0) _exit(kNotStarted);
  execvpe(arguments[0], arguments, environment);
  _exit(kNotStarted);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& more) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!more.contains(std::string(text.substr(0, text.find('='))))) out.emplace_back(text);
  }
  for (const auto& [key, value] : more) out.push_back(key + "=" + value);
  return out;
}

}  // namespace

PeerProcess::PeerProcess(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words = command, settings = merged_environment(environment);
  const std::vector<char*> arguments = pointers(words), variables = pointers(settings);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) become(sockets[1], arguments.data(), variables.data(), parent);
  close(sockets[1]);
  socket_ = sockets[0];
  if (process_ < 0) {
    close(socket_);
    throw std::system_error(errno, std::generic_category(), "fork");
  }
}

PeerProcess::~PeerProcess() { end(); }

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
    pollfd waiting{socket_, POLLIN, 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) fail(fmt::format("has not answered within {} s", patience.count()));
    char bytes[4096];
    const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("ended without an answer");
    unread_.append(bytes, static_cast<std::size_t>(count));
  }
}

nlohmann::json PeerProcess::ask(const nlohmann::json& request, std::chrono::seconds patience) {
  if (socket_ < 0) throw PeerError("is gone");
  const std::string line = request.dump() + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("ended before it was asked");
    sent += static_cast<std::size_t>(count);
  }
  return hear(patience);
}

void PeerProcess::fail(const std::string& why) {
  end();
  throw PeerError(why);
}

void PeerProcess::pause() const {
  if (process_ > 0) suspend(process_);
}

void PeerProcess::resume() const {
  if (process_ > 0) wake(process_);
}

void PeerProcess::end() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (process_ <= 0) return;
  kill(-process_, SIGKILL);  // its children, too
  kill(process_, SIGKILL);   // itself, if it has no group of its own yet
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

}  // namespace backgauge
