// SPDX-License-Identifier: Apache-2.0
// backgauge batches: makes the batches of a tier, and judges batches, as another program asks for it. `backgauge
// campaign` has one such process on each core of each machine. It is a protocol between two programs of one version,
// which may change with every version, and nothing that people type: so no help, manual or completion lists it.
#include "ci/run/judge/batches.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/outcome/run_head.h"
#include "ci/run/plan/run_plan.h"
#include "ci/run/plan/shard.h"
#include "ci/run/process/crash_report.h"
#include "properties/case/files/json_integer.h"
#include "properties/case/files/json_text.h"

namespace backgauge::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BatchesArguments {
  std::string impl = "cpu";
  int threads = 1;
  IsolationOptions isolation{};
};

struct Request {
  std::optional<Batch> batch;  // to be judged,
  std::string file;            // and where its records go; or:
  std::string tier, ops;       // the plan whose batches are asked for
  std::uint64_t seed = 0;
  double work = 0;  // of a batch
};

Request parse_request(const std::string& line) {
  Request request;
  try {
    const Json json = parse_json<Json>(line);
    if (json.contains("batch")) {
      request.batch = parse_batch(json.at("batch"));
      json.at("file").get_to(request.file);
    } else {
      json.at("tier").get_to(request.tier);
      read_integer(json.at("seed"), request.seed);
      json.at("ops").get_to(request.ops);
      json.at("work").get_to(request.work);
    }
  } catch (const std::exception& error) {
    throw CommandError{kUsage, fmt::format("batches: not a request: {}", error.what())};
  }
  return request;
}

class BatchServer {
 public:
  explicit BatchServer(const BatchesArguments& options)
      : options_(options), candidate_(options.impl, options.isolation) {}

  int operator()() {
    if (!candidate_.isolated()) install_crash_report();
    say(head({}));
    for (std::string line; std::getline(std::cin, line);) {
      const Request request = parse_request(line);
      if (request.batch) {
        judge(*request.batch, request.file);
      } else {
        make(plan_of_tier(request.tier, request.seed, request.ops), request.work);
      }
    }
    return kGood;
  }

 private:
  static void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  std::string head(const Planned& plan) const {
    return to_json(head_of_this_run(candidate_.table(), options_.impl, options_.threads, Shard{}.text(), plan));
  }

  void make(const RunPlan& plan, double work) const {
    const std::vector<Batch> batches = batches_of(plan, work);
    Json first = Json::array();
    for (const Batch& batch : batches) first.push_back(batch.plan.index);
    say(Json{{"run", Json::parse(head(plan.planned))}, {"first", first}}.dump());
    for (const Batch& batch : batches) say(to_json(batch));
  }

  void judge(const Batch& batch, const std::string& file) {
    const JudgedBatch done = judge_batch(candidate_, batch, options_.threads, file);
    say(Json{{"kept", done.kept}, {"failed", done.failed}}.dump());
  }

  const BatchesArguments& options_;
  Candidate candidate_;
};

}  // namespace

void add_batches(CommandLine& line) {
  auto options = std::make_shared<BatchesArguments>();
  Subcommand command = line.subcommand("batches", "make and judge the batches of a tier, for backgauge campaign");
  command.hide();
  add_implementation_options(command, options->impl, options->threads);
  add_isolation_options(command, options->isolation);
  command.footer(
      "First, a line describes the implementation, as run.json does. Then each line of stdin is a request; all lines "
      "are\n"
      "JSON.\n"
      "  {\"tier\": \"ci\", \"seed\": 1, \"ops\": \"\", \"work\": 4000}: the answer describes the run, and says with "
      "which case\n"
      "  of the plan each batch begins. One line for each batch follows. A batch takes about as many milliseconds as\n"
      "  \"work\" says, with an implementation that is as fast as plain.\n"
      "  {\"batch\": BATCH, \"file\": \"FILE\"}: judges the cases of such a line, and appends their records to FILE.\n"
      "  Cases whose records FILE already has are not judged again. The answer gives their number (\"kept\"), and the\n"
      "  number of cases that failed.\n"
      "After an error, the message is on stderr, and no more requests are answered.");
  command.action([options] { return BatchServer(*options)(); });
}

}  // namespace backgauge::cli
