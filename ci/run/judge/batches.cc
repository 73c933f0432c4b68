// SPDX-License-Identifier: Apache-2.0
#include "ci/run/judge/batches.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/judge/judging.h"
#include "ci/run/outcome/run_folder.h"
#include "ci/run/process/progress.h"
#include "properties/case/files/json_integer.h"
#include "properties/case/files/npy.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

CommandError refused(const std::filesystem::path& file) {
  return {kUsage, fmt::format("{}: {}", file.string(), std::generic_category().message(errno))};
}

Descriptor locked(const std::filesystem::path& file) {
  Descriptor lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.get() < 0) throw refused(file);
  while (flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw refused(file);
  }
  return lock;
}

// The line that a killed process did not finish would spoil the next one.
void drop_incomplete_line(const std::filesystem::path& file) {
  std::string text, error;
  if (!read_file(file, text, error)) throw CommandError{kUsage, error};
  const std::size_t complete = text.rfind('\n') + 1;  // npos + 1 is 0
  if (complete < text.size()) std::filesystem::resize_file(file, complete);
}

bool has_failed(const Record& record) {
  return record.verdict.status == Status::kFailed || record.verdict.status == Status::kBroken;
}

}  // namespace

std::vector<Batch> batches_of(const RunPlan& plan, double work) {
  std::vector<Batch> out;
  double last = work;  // work of the last batch
  for (std::size_t index = 0; index < plan.cases.size(); ++index) {
    if (last >= work) {
      out.push_back({plan.at(index), {}});
      last = 0;
    }
    out.back().lines.push_back(to_string(plan.cases[index]));
    last += expected_work(plan.cases[index]);
  }
  return out;
}

std::string to_json(const Batch& batch) {
  const Planned& plan = batch.plan;
  return Json{{"tier", plan.tier},     {"seed", plan.seed},   {"cases", plan.cases},
              {"digest", plan.digest}, {"index", plan.index}, {"lines", batch.lines}}
      .dump();
}

Batch parse_batch(const Json& json) {
  try {
    Batch batch;
    json.at("tier").get_to(batch.plan.tier);
    read_integer(json.at("seed"), batch.plan.seed);
    read_integer(json.at("cases"), batch.plan.cases);
    json.at("digest").get_to(batch.plan.digest);
    read_integer(json.at("index"), batch.plan.index);
    json.at("lines").get_to(batch.lines);
    const auto judged = static_cast<std::int64_t>(batch.lines.size());
    if (batch.plan.index < 0 || judged == 0 || batch.plan.index > batch.plan.cases - judged)
      throw std::invalid_argument(
          fmt::format("{} from {} on, of {}", counted(batch.lines.size(), "case"), batch.plan.index, batch.plan.cases));
    return batch;
  } catch (const std::exception& error) {
    throw CommandError{kUsage, fmt::format("not a batch: {}", error.what())};
  }
}

JudgedBatch judge_batch(Candidate& candidate, const Batch& batch, int num_threads, const std::filesystem::path& file) {
  const Descriptor lock = locked(file);
  drop_incomplete_line(file);
  const RecordsByIndex kept = read_records(file);
  JudgedBatch out{.kept = kept.size(), .failed = 0};
  const auto first = static_cast<std::size_t>(batch.plan.index);
  for (const auto& [index, record] : kept) {
    if (!record.plan->same_plan(batch.plan) || index < first || index >= first + batch.lines.size())
      throw CommandError{kUsage, fmt::format("{}: holds a case of another batch: {}", file.string(), record.id)};
    if (has_failed(record)) ++out.failed;
  }
  std::vector<Planned> places;
  std::vector<Case> cases;
  for (std::size_t k = 0; k < batch.lines.size(); ++k) {
    if (kept.contains(first + k)) continue;
    places.push_back(batch.plan);
    places.back().index += static_cast<std::int64_t>(k);
    cases.push_back(parse_case_or_throw(batch.lines[k]));
  }
  RecordWriter writer(file.string());
  JudgingOptions judging{.workers = 1, .num_threads = num_threads, .redraw = true};
  judging.ended = [&](std::size_t turn, Record record) {
    record.plan = places[turn];
    writer.append(record);
    if (has_failed(record)) ++out.failed;
  };
  judge_all(candidate, cases, judging, [](const Record&) { return true; });
  return out;
}

}  // namespace backgauge::cli
