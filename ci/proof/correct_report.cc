// SPDX-License-Identifier: Apache-2.0
// The results of judging correct implementations, as text and as the sentence of README.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ci/proof/correct_trial.h"

namespace backgauge::cli {
namespace {

// 1234567 -> "1,234,567", whatever the locale.
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t k = digits.size(); k > 3; k -= 3) digits.insert(k - 3, ",");
  return digits;
}

}  // namespace

std::string correct_text(const CorrectTrial& trial) {
  std::string out = fmt::format("{:<32} {:>8} {:>8} {:>10} {:>8} {:>7}   worst error/allowed\n",
                                "correct implementation", "judged", "passed", "mistrusted", "skipped", "alarms");
  for (const CorrectResult& each : trial.results) {
    out += fmt::format("{:<32} {:>8} {:>8} {:>10} {:>8} {:>7}   {:.3f}\n", each.name, each.runs, each.passed,
                       each.mistrusted, each.skipped, each.false_alarms.size(), each.worst_ratio);
  }
  for (const CorrectResult& each : trial.results) {
    for (const std::string& alarm : each.false_alarms) out += fmt::format("FALSE ALARM {}: {}\n", each.name, alarm);
    if (each.passed == 0) out += fmt::format("NOT JUDGED {}: no case passed\n", each.name);
  }
  out += fmt::format(
      "correct: {} false alarms in {} judged runs of {} implementations, {} of them isolated; {} cases of tier {}, "
      "seeds {}; "
      "worst ratio {:.3f}; {} mistrusted; {:.0f} s{}\n",
      trial.false_alarms(), grouped(trial.runs()), trial.results.size(), trial.isolated, trial.cases,
      trial.options.tier, fmt::join(trial.options.seeds, ","), trial.worst_ratio(), trial.mistrusted(), trial.seconds,
      trial.interrupted ? "; INTERRUPTED" : "");
  return out;
}

std::string correct_markdown(const CorrectTrial& trial) {
  return fmt::format(
      "{} false alarms in {} judged runs of {} implementations that are correct in different ways: {} cases of tier "
      "{}, "
      "seeds {}.\n",
      trial.false_alarms(), grouped(trial.runs()), trial.results.size(),
      grouped(static_cast<std::int64_t>(trial.cases)), trial.options.tier, fmt::join(trial.options.seeds, ", "));
}

}  // namespace backgauge::cli
