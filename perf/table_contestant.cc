// SPDX-License-Identifier: Apache-2.0
#include "perf/table_contestant.h"

#include "properties/judge/claims.h"
#include "properties/judge/findings.h"
#include "properties/judge/judge.h"

namespace backgauge {

TableContestant::TableContestant(std::string name, Runner& runner,
                                 std::function<const backgauge_implementation&()> open)
    : name_(std::move(name)), version_(runner.table().version), runner_(runner), open_(std::move(open)) {}

Verdict TableContestant::judge(Subject& subject) {
  JudgeOptions options;
  options.seed = subject.c.seed;
  options.num_threads = subject.threads;
  options.oracle = [&subject](const Problem& problem, const Declared& declared, Values values) {
    return subject.expected(problem, declared, values);
  };
  return judge_case(runner_, subject.filled.problem, subject.filled.facts, options);
}

double TableContestant::load(Subject& subject) try {
  subject_ = &subject;
  call_ = std::make_unique<TimedCall>(open_(), subject.filled.problem, subject.threads);
  return call_->time(1);
} catch (const std::runtime_error& error) {
  throw ContestantError(error.what());
}

double TableContestant::time(std::int64_t calls) try {
  return call_->time(calls);
} catch (const std::runtime_error& error) {
  throw ContestantError(error.what());
}

Verdict TableContestant::judge_again() try {
  call_->poison_outputs();
  call_->time(1);
  Problem problem = subject_->filled.problem;
  const Declared claimed = declared(*claims_of(runner_.table(), problem.op), problem.dtype);
  if (has_random_dropout(problem)) problem.keep = call_->dropout_masks(problem.extents);
  const std::vector<Wanted> wanted = subject_->expected(problem, claimed, values_of(subject_->filled.facts));
  return judge_values(wanted, call_->outputs(), problem, claimed);
} catch (const std::runtime_error& error) {
  return failed(error.what());
}

void TableContestant::drop() {
  call_.reset();
  subject_ = nullptr;
}

}  // namespace backgauge
