// SPDX-License-Identifier: Apache-2.0
#include "ci/run/judge/checks.h"

#include <fmt/format.h>

#include <exception>

#include "ci/run/judge/determinism_check.h"
#include "ci/run/process/interrupt.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/compare/run_verdicts.h"

namespace backgauge::cli {

void Checks::add(const std::string& what, std::string_view group, Verdict verdict) {
  Record record;
  record.id = std::string(kCheckPrefix) + what;
  record.op = group;
  record.impl_name = printable(runner_.table().name, kShownOfName);
  record.impl_version = printable(runner_.table().version, kShownOfName);
  record.verdict = std::move(verdict);
  record.isolated = runner_.isolated();
  failed_.push_back(std::move(record));
}

void Checks::add(const Walk& walked) {
  if (walked.failure.empty()) return;
  std::string reason = walked.failure;
  if (walked.failed) reason += "; in " + to_string(*walked.failed);
  if (walked.before) reason += "; after " + to_string(*walked.before);
  add(std::string(kStateWalk), "state_walk", backgauge::failed(std::move(reason)));
}

void Checks::add(const std::vector<OpDeterminism>& measured) {
  for (const OpDeterminism& op : measured) {
    if (!op.overclaimed()) continue;
    const std::string_view word = find_op(op.op)->word;
    add(fmt::format("{} {}", kDeterminism, word), word,
        backgauge::failed(fmt::format("claims {}, measured {}: {}",
                                      backgauge::determinism_word(std::int32_t{op.claimed}),
                                      determinism_word(op.measured), op.difference)));
  }
}

void Checks::add(const Crowd& judged) {
  const Status status = judged.worst.status;
  if (status != Status::kFailed && status != Status::kBroken) return;
  Verdict verdict = judged.worst;
  verdict.reason += "; " + at_once_words(judged.cases);
  add(std::string(kCallsAtOnce), "calls_at_once", std::move(verdict));
}

void Checks::add(const ThreadCounts& counted) {
  if (!counted.failure.empty()) add(std::string(kThreads), "threads", backgauge::failed(counted.failure));
}

void Checks::add(const MemoryGrowths& measured) {
  if (!measured.failure.empty()) add(std::string(kMemory), "memory", backgauge::failed(measured.failure));
}

void Checks::make(std::string_view check, const CheckSettings& settings, Summary& summary) {
  if (interrupted()) return;
  const auto keep = [&](const auto& measured, auto into) {
    if (cut_short()) return;
    add(measured);
    (summary.*into)(measured);
  };
  const auto measure = [&] {
    if (check == kCallsAtOnce) {
      keep(crowd(runner_, {.ops = settings.ops, .seed = settings.seed, .num_threads = settings.num_threads}),
           &Summary::add_crowd);
    } else if (check == kThreads) {
      keep(count_threads(runner_, settings.ops), &Summary::add_threads);
    } else if (check == kMemory) {
      keep(measure_memory_growths(runner_, settings.ops), &Summary::add_memory);
    } else if (check == kStateWalk) {
      keep(walk(runner_, {.ops = settings.ops, .seed = settings.seed, .num_threads = settings.num_threads}),
           &Summary::add_walk);
    } else {
      keep(measure_determinism(runner_, settings.ops), &Summary::add_determinism);
    }
  };
  attempt(std::string(check), measure);
}

void Checks::attempt(const std::string& what, const std::function<void()>& check) {
  try {
    check();
  } catch (const std::exception& error) {
    if (cut_short()) return;
    add(what, "harness", broken(error.what()));
  }
}

}  // namespace backgauge::cli
