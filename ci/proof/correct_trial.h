// SPDX-License-Identifier: Apache-2.0
// Tests the judge: correct implementations are judged on whole tiers, and none may fail. The oracle evaluates each case
// once for all implementations that declare the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ci/proof/proof.h"

namespace backgauge::cli {

struct CorrectTrialOptions {
  std::string tier = "ci", ops;
  std::vector<std::uint64_t> seeds{1};
  std::size_t cases = 0;  // per seed, spread evenly over the tier; 0: all
  // Like --impl of `backgauge verify`, opened and isolated in the same way. Empty: all of correct_implementations(),
  // and other implementations that run on any processor.
  std::vector<std::string> implementations;
  int workers = 2;
  std::function<void(const std::string& phase, std::size_t done, std::size_t total)> progress;
};

struct CorrectTrial {
  CorrectTrialOptions options;
  std::size_t cases = 0, isolated = 0;  // over all seeds; implementations in separate processes
  std::vector<CorrectResult> results{};
  bool interrupted = false;
  double seconds = 0;

  std::int64_t runs() const;
  std::size_t false_alarms() const;
  std::int64_t mistrusted() const;
  double worst_ratio() const;
  // No implementation failed, and each was judged at least once.
  bool holds() const;
};

// Judges the cases, and one short state walk of every implementation.
// Throws CommandError(kUsage, kNotLoaded, kSelfCheck).
CorrectTrial try_correct(const CorrectTrialOptions& options);

// As text, as JSON, and as the sentence of README.md.
std::string correct_text(const CorrectTrial& trial);
std::string correct_json(const CorrectTrial& trial);
std::string correct_markdown(const CorrectTrial& trial);

}  // namespace backgauge::cli
