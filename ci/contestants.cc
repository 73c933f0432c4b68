// SPDX-License-Identifier: Apache-2.0
#include "ci/contestants.h"

#include <fmt/format.h>

#include <map>

#include "ci/command.h"
#include "ci/words.h"
#include "perf/table_contestant.h"

namespace backgauge::cli {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    if (words.back().empty()) throw CommandError{kUsage, fmt::format("--impl={}: expected names with commas", list)};
    begin = end + 1;
  }
  return words;
}

}  // namespace

Contestants open_contestants(const std::string& list, const IsolationOptions& isolation) {
  Contestants out;
  std::map<std::string, int> seen;
  for (const std::string& given : split(list)) {
    Candidate& candidate = *out.candidates.emplace_back(std::make_unique<Candidate>(given, isolation));
    std::string name = given.starts_with(kSaboteurPrefix) ? given : candidate.table().name;
    if (const int count = ++seen[name]; count > 1) name += fmt::format("#{}", count);
    out.all.push_back(std::make_unique<TableContestant>(
        name, candidate.runner(), [given]() -> const backgauge_implementation& { return load_implementation(given); }));
  }
  return out;
}

}  // namespace backgauge::cli
