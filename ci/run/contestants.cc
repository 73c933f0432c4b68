// SPDX-License-Identifier: Apache-2.0
#include "ci/run/contestants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "ci/options/command_error.h"
#include "ci/run/load_implementation.h"
#include "perf/abi_contestant.h"
#include "perf/peer_contestant.h"
#include "perf/peers.h"
#include "perf/session_process.h"

namespace backgauge::cli {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    if (words.back().empty())
      throw CommandError{kUsage, fmt::format("--impl={}: expected names separated by commas", list)};
    begin = end + 1;
  }
  return words;
}

std::unique_ptr<Contestant> open_peer(const std::string& name, const std::vector<std::string>& command, int threads) {
  try {
    return std::make_unique<PeerContestant>(name, command, threads);
  } catch (const PeerError& error) {
    return std::make_unique<AbsentContestant>(name, error.what());
  }
}

// An unknown name may have been meant as a peer.
std::unique_ptr<Candidate> open_candidate(const std::string& given, const IsolationOptions& isolation) {
  try {
    return std::make_unique<Candidate>(given, isolation);
  } catch (CommandError& error) {
    const std::vector<std::string> peers = peer_names();
    if (!peers.empty() && error.exit_code == kNotLoaded)
      error.text += fmt::format("; or a peer: {}", fmt::join(peers, " "));
    throw;
  }
}

}  // namespace

Contestants open_contestants(const std::string& list, int threads, const IsolationOptions& isolation,
                             const Callgrind* counted) {
  Contestants out;
  std::map<std::string, int> seen;
  const auto distinct = [&seen](std::string name) {
    if (const int count = ++seen[name]; count > 1) name += fmt::format("#{}", count);
    return name;
  };
  for (const std::string& given : split(list)) {
    if (const auto command = peer_command(given)) {
      out.all.push_back(open_peer(distinct(given), *command, threads));
      continue;
    }
    Candidate& candidate = *out.candidates.emplace_back(open_candidate(given, isolation));
    const std::string name = given.starts_with(kSaboteurPrefix) ? given : candidate.table().name;
    const WorkerProgram worker = worker_program(given, isolation);
    const auto session = [given, program = counted ? counted->around(worker) : worker,
                          conduct = candidate.shared_conduct()] {
      return std::make_unique<SessionProcess>(given, program, conduct);
    };
    out.all.push_back(std::make_unique<AbiContestant>(distinct(name), candidate.runner(), session));
  }
  return out;
}

}  // namespace backgauge::cli
