// SPDX-License-Identifier: Apache-2.0
// The judge on trial: correct implementations go through whole tiers, and none may be accused. The oracle answers once
// for all who declare the same.
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
  std::size_t cases = 0;  // of each seed, evenly over the tier; 0: all
  // As --impl of `backgauge verify`, opened and isolated likewise. Empty: all of correct_implementations(), and those
  // of others that run on any processor.
  std::vector<std::string> implementations;
  int workers = 2;
  std::function<void(const std::string& phase, std::size_t done, std::size_t total)> progress;
};

struct CorrectTrial {
  CorrectTrialOptions options;
  std::size_t cases = 0, isolated = 0;  // of all seeds; implementations in processes of their own
  std::vector<CorrectResult> results{};
  bool interrupted = false;
  double seconds = 0;

  std::int64_t runs() const;
  std::size_t false_alarms() const;
  std::int64_t mistrusted() const;
  double worst_ratio() const;
  // Nobody accused, and everybody judged at least once.
  bool holds() const;
};

// Besides cases, every implementation goes once through a short state walk.
// Throws CommandError(kUsage, kNotLoaded, kSelfCheck).
CorrectTrial try_correct(const CorrectTrialOptions& options);

// For people, for programs, and the sentence of README.md.
std::string correct_text(const CorrectTrial& trial);
std::string correct_json(const CorrectTrial& trial);
std::string correct_markdown(const CorrectTrial& trial);

}  // namespace backgauge::cli
