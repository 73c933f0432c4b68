// SPDX-License-Identifier: Apache-2.0
#include "perf/peer_contestant.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "properties/case/bundle.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/compare/judge_values.h"
#include "properties/judge/compare/run_verdicts.h"
#include "reference/contract/op_spec.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Frameworks take long to start. A load converts layouts and runs a forward; a batch of calls takes as long as
// requested.
constexpr std::chrono::seconds kStart{180}, kAnswer{900};

constexpr int kMostProcesses = 3;  // unless more are compared before one is timed

// Frameworks round each operation in half (semantics.md 1.4); it does not apply to the other dtypes.
constexpr Declared kDeclared{.half_class = BACKGAUGE_CLASS_B};

std::map<std::string, std::string> threads_in_environment(int threads) {
  const std::string count = std::to_string(threads);
  return {{"OMP_NUM_THREADS", count},        {"MKL_NUM_THREADS", count},      {"OPENBLAS_NUM_THREADS", count},
          {"TF_NUM_INTRAOP_THREADS", count}, {"TF_NUM_INTEROP_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}};
}

std::string word(const json& said, const char* key) {
  return said.contains(key) && said[key].is_string() ? said[key].get<std::string>() : "";
}

// Without the large inputs of which only the elements that the op reads have values: a peer that needs them creates
// them.
Filled with_whole_inputs(Filled filled) {
  std::erase_if(filled.problem.inputs, [](const Tensor& tensor) {
    return static_cast<std::int64_t>(tensor.values.size()) != element_count(tensor.shape);
  });
  return filled;
}

}  // namespace

// On destruction the process is paused: it waits for the next workload.
class PeerLaunch : public Launch {
 public:
  PeerLaunch(const PeerContestant& owner, PeerProcess& process) : owner_(owner), process_(process) {
    first_call_ = time(1).seconds;
  }
  ~PeerLaunch() override {
    process_.resume();
    try {
      process_.ask({{"do", "drop"}}, kAnswer);
    } catch (const PeerError&) {
      // The next workload will report that it is gone.
    }
    process_.pause();
  }

  double first_call() const override { return first_call_; }
  void turn(std::uint64_t) override {}  // a framework converts its inputs when it loads them, and keeps those
  Timing time(std::int64_t calls) override try {
    json request = {{"do", "time"}, {"calls", calls}};
    if (owner_.workload_inputs_->options.evict_bytes > 0)
      request["evict_bytes"] = owner_.workload_inputs_->options.evict_bytes;
    const json answer = process_.ask(request, kAnswer);
    if (!answer.contains("seconds") || !answer["seconds"].is_number()) {
      throw ContestantError("returned no time: " + word(answer, "error"));
    }
    return {answer["seconds"], answer["seconds"]};
  } catch (const PeerError& error) {
    throw ContestantError(error.what());
  }
  Verdict judge() override try { return owner_.judge_outputs(process_); } catch (const PeerError& error) {
    return {Status::kBroken, error.what(), {}};
  }
  void pause() override { process_.pause(); }
  void resume() override { process_.resume(); }
  int process() const override { return process_.process(); }

 private:
  const PeerContestant& owner_;
  PeerProcess& process_;
  double first_call_ = 0;
};

PeerContestant::PeerContestant(std::string name, std::vector<std::string> command, int threads)
    : name_(std::move(name)), command_(std::move(command)), threads_(threads) {
  command_.push_back(fmt::format("--threads={}", threads));
  process(0).pause();
  std::string pattern = (fs::temp_directory_path() / "backgauge-peer-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw PeerError(pattern + ": cannot be created");
  folder_ = pattern;
}

PeerContestant::~PeerContestant() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

// Starts a process if there are not enough yet.
PeerProcess& PeerContestant::process(std::size_t number) {
  while (processes_.size() <= number) {
    auto process = std::make_unique<PeerProcess>(command_, threads_in_environment(threads_));
    const json greeting = process->hear(kStart);
    if (const std::string error = word(greeting, "error"); !error.empty()) throw PeerError(error);
    if (greeting.contains("threads") && greeting["threads"] != threads_) {
      throw PeerError(fmt::format("uses {} threads, expected {}", greeting["threads"].dump(), threads_));
    }
    version_ = word(greeting, "version");
    processes_.push_back(std::move(process));
  }
  return *processes_[number];
}

json PeerContestant::load_into(PeerProcess& process) const {
  process.resume();
  return process.ask({{"do", "load"}, {"case", to_string(workload_inputs_->c)}, {"folder", folder_.string()}}, kAnswer);
}

Verdict PeerContestant::judge(WorkloadInputs& workload_inputs) try {
  const std::optional<Verdict> refusal = refuse(workload_inputs);
  return refusal ? *refusal : judge_outputs(process(0));
} catch (const PeerError& error) {
  return {Status::kBroken, error.what(), {}};
}

// Loads the workload into its first process.
std::optional<Verdict> PeerContestant::refuse(WorkloadInputs& workload_inputs) try {
  workload_inputs_ = &workload_inputs;
  launches_ = 0;
  if (has_random_dropout(workload_inputs.filled.problem)) {
    return Verdict{Status::kSkipped, "draws its own dropout masks", {}};
  }
  std::string error;
  if (!write_bundle(folder_, workload_inputs.c, with_whole_inputs(workload_inputs.filled), {}, error))
    return broken(error);
  const json loaded = load_into(process(0));
  if (const std::string reason = word(loaded, "skip"); !reason.empty()) return Verdict{Status::kSkipped, reason, {}};
  if (const std::string reason = word(loaded, "error"); !reason.empty()) return Verdict{Status::kBroken, reason, {}};
  outputs_.clear();
  for (const json& output : loaded.value("outputs", json::array())) {
    if (output.is_string()) outputs_.push_back(output);
  }
  return std::nullopt;
} catch (const PeerError& error) {
  return Verdict{Status::kBroken, error.what(), {}};
}

std::unique_ptr<Launch> PeerContestant::launch(WorkloadInputs& inputs) try {
  // Later blocks have the processes of earlier ones again, which have dropped the workload: a framework takes seconds
  // to start and hundreds of megabytes.
  PeerProcess& mine = process(launches_ % static_cast<std::size_t>(std::max(kMostProcesses, inputs.options.launches)));
  const json loaded = launches_ == 0 ? json::object() : load_into(mine);
  if (const std::string reason = word(loaded, "error"); !reason.empty()) throw ContestantError(reason);
  ++launches_;
  return std::make_unique<PeerLaunch>(*this, mine);
} catch (const PeerError& error) {
  throw ContestantError(error.what());
}

void PeerContestant::drop() {
  workload_inputs_ = nullptr;
  for (const auto& process : processes_) process->pause();
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    fs::remove_all(entry.path(), ignored);
  }
}

// Judges the outputs that it computes; the others are ignored.
Verdict PeerContestant::judge_outputs(PeerProcess& process) const {
  const fs::path written = folder_ / "out";
  std::error_code ignored;
  fs::remove_all(written, ignored);  // whatever is there afterwards comes from this run
  fs::create_directories(written, ignored);
  const json answer = process.ask({{"do", "run"}}, kAnswer);
  if (const std::string reason = word(answer, "error"); !reason.empty()) return {Status::kBroken, reason, {}};
  std::string error;
  std::vector<GivenTensor> given;
  for (OutputFile& file : read_outputs(written, error)) {
    given.push_back({file.tensor.name, file.tensor.shape, npy_dtype(file.type), std::move(file.tensor.values)});
  }
  if (!error.empty()) return failed(error);

  const Problem& problem = workload_inputs_->filled.problem;
  const DataFacts& facts = workload_inputs_->filled.facts;
  if (const std::string reason = undecidable(kDeclared, problem, facts); !reason.empty()) {
    return {Status::kSkipped, reason, {}};
  }
  std::vector<Wanted> wanted = workload_inputs_->expected.all(problem, kDeclared);
  std::erase_if(wanted,
                [&](const Wanted& tensor) { return std::ranges::find(outputs_, tensor.name) == outputs_.end(); });
  if (wanted.empty()) return failed("computes no output of the op");
  return judge_values(wanted, given, problem, kDeclared);
}

}  // namespace backgauge
