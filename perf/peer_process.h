// SPDX-License-Identifier: Apache-2.0
// A program of another framework that exchanges lines of JSON on its stdin and stdout (peers/README.md). It ends when
// this process ends.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "properties/judge/worker/child_process.h"

namespace backgauge {

// The program ended, did not answer in time, or sent a line that breaks the protocol. It has been stopped.
struct PeerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class PeerProcess {
 public:
  // The program (searched in PATH) with its arguments, and variables to add to the environment. Throws PeerError.
  PeerProcess(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment);

  // The next object that it sends. Throws PeerError.
  nlohmann::json hear(std::chrono::seconds patience);

  // Sends a request and waits for the answer. Throws PeerError.
  nlohmann::json ask(const nlohmann::json& request, std::chrono::seconds patience);

  // Between the two, neither the program nor its children run, and ask() must not be called.
  void pause() const;
  void resume() const;

  int process() const { return child_->id(); }

 private:
  [[noreturn]] void fail(const std::string& why);

  Descriptor socket_;
  std::unique_ptr<ChildProcess> child_;  // never null
  std::string unread_;
};

}  // namespace backgauge
