// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/contestants.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "ci/options/command_error.h"
#include "ci/run/implementation/adapters.h"
#include "ci/run/implementation/load_implementation.h"
#include "perf/run/abi_contestant.h"

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

// If an adapter cannot be loaded, `absence` gets the reason.
std::unique_ptr<Candidate> open_candidate(const std::string& given, const IsolationOptions& isolation,
                                          std::string& absence) {
  try {
    return std::make_unique<Candidate>(given, isolation);
  } catch (const CommandError& error) {
    if (error.exit_code != kNotLoaded || !find_adapter(given)) throw;
    absence = error.text;
    return nullptr;
  }
}

}  // namespace

Contestants open_contestants(const std::string& list, const IsolationOptions& isolation, const Callgrind* counted) {
  Contestants out;
  std::map<std::string, int> seen;
  const auto distinct = [&seen](std::string name) {
    if (const int count = ++seen[name]; count > 1) name += fmt::format("#{}", count);
    return name;
  };
  for (const std::string& given : split(list)) {
    std::string absence;
    std::unique_ptr<Candidate> opened = open_candidate(given, isolation, absence);
    if (opened == nullptr) {
      out.all.push_back(std::make_unique<AbsentContestant>(distinct(given), absence));
      continue;
    }
    const Candidate& candidate = *out.candidates.emplace_back(std::move(opened));
    const std::string name = distinct(given.starts_with(kSaboteurPrefix) ? given : candidate.table().name);
    out.terms.emplace_back(name, terms_of(candidate.table()));
    const auto open = [&candidate, counted](const Problem& problem, const LoadOptions& load) {
      return candidate.session(problem, load, counted);
    };
    out.all.push_back(std::make_unique<AbiContestant>(name, out.candidates.back()->runner(), open));
  }
  return out;
}

}  // namespace backgauge::cli
