// SPDX-License-Identifier: Apache-2.0
// A program of another framework that speaks in lines of JSON on its stdin and stdout (peers/README.md). It runs in
// a process group of its own and dies with this process.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace backgauge {

// The program ended, was silent for too long, or sent a line that breaks the protocol; afterwards it is gone.
struct PeerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class PeerProcess {
 public:
  // The program and its arguments, found along PATH; what its environment has beside that of this process.
  PeerProcess(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // The next object it says. Throws PeerError.
  nlohmann::json hear(std::chrono::seconds patience);

  // Asks, and hears the answer. Throws PeerError.
  nlohmann::json ask(const nlohmann::json& request, std::chrono::seconds patience);

  // It and what it has started do not run between the two. Nothing may be asked meanwhile.
  void pause() const;
  void resume() const;

  int process() const { return process_; }

 private:
  [[noreturn]] void fail(const std::string& why);
  void end();

  int process_ = -1, socket_ = -1;
  std::string unread_;
};

}  // namespace backgauge
