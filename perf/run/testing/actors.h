// SPDX-License-Identifier: Apache-2.0
// Contestants that only record their calls, and rounds of them. They report times that are given, so no time is
// asserted.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "perf/run/bench.h"

namespace backgauge {

inline std::vector<std::string> asked;  // in order

// Reports `seconds` for a call, or `luck` times as long in its k-th launch.
class Actor : public Contestant {
 public:
  explicit Actor(std::string name, double seconds = 0.02) : name_(std::move(name)), seconds_(seconds) {}

  const std::string& name() const override { return name_; }
  const std::string& version() const override { return name_; }
  bool on_cpu() const override { return !on_device; }
  Verdict judge(WorkloadInputs&) override {
    asked.push_back("judge " + name_);
    return before;
  }
  std::optional<Verdict> refuse(WorkloadInputs&) override {
    asked.push_back("refuse " + name_);
    return refusal;
  }
  std::unique_ptr<Launch> launch(WorkloadInputs&) override;

  bool on_device = false;
  std::vector<double> luck;
  std::size_t launches = 0;
  double seconds() const { return seconds_; }

  Verdict before = passed(), after = passed();
  std::optional<Verdict> refusal{};
  std::function<bool()> ends;
  double first_call = 0.1;  // long enough that no call warms up, short enough that a sample has several calls

  static Verdict passed() {
    TensorReport tensor;
    tensor.name = "dicfo";
    tensor.max_ratio = 0.25;
    return {Status::kPassed, "", {tensor}};
  }

 private:
  std::string name_;
  double seconds_;
};

class ActorLaunch : public Launch {
 public:
  ActorLaunch(Actor& actor, double factor) : actor_(actor), factor_(factor) {}

  Loaded loaded() const override { return {actor_.first_call, 0}; }
  void turn(std::uint64_t seed) override { asked.push_back("turn " + actor_.name() + " " + std::to_string(seed)); }
  Timing time(std::int64_t calls) override {
    EXPECT_EQ(awake_, 1) << actor_.name();
    asked.push_back("time " + actor_.name());
    if (actor_.ends && actor_.ends()) throw ContestantError("ended");
    const double seconds = factor_ * actor_.seconds() * static_cast<double>(calls);
    return {
        .seconds = seconds, .cpu_seconds = 0.5 * seconds, .waits = 0};  // so that ratios do not depend on other load
  }
  Verdict judge() override {
    EXPECT_EQ(awake_, 1) << actor_.name();
    asked.push_back("again " + actor_.name());
    return actor_.after;
  }
  void pause() override { --awake_; }
  void resume() override { ++awake_; }

 private:
  Actor& actor_;
  double factor_;
  int awake_ = 1;  // 2: resumed twice, 0: called while paused; both are errors of the bench
};

inline std::unique_ptr<Launch> Actor::launch(WorkloadInputs&) {
  asked.push_back("launch " + name_);
  const double factor = launches < luck.size() ? luck[launches] : 1;
  ++launches;
  return std::make_unique<ActorLaunch>(*this, factor);
}

class BenchTest : public testing::Test {
 protected:
  void SetUp() override {
    asked.clear();
    limits.copy.l1 = limits.copy.l2 = limits.copy.l3 = limits.copy.memory = 10;
    machine.l1_bytes = 1 << 15;
    options.rounds = 3;
    options.launches = 1;
    options.sample_seconds = 0.01;
  }
  Actor& add(const std::string& name, double seconds = 0.02) {
    contestants.push_back(std::make_unique<Actor>(name, seconds));
    return static_cast<Actor&>(*contestants.back());
  }
  static Workload workload(const std::string& line = "lstm_block_cell_grad b2i3h4 dt=f32 data=strat:0x1") {
    std::string error;
    return {"case", parse_case(line, error).value()};
  }
  BenchResult run(std::vector<Workload> workloads = {workload()}) {
    return Bench(machine, limits, options).run(workloads, contestants);
  }

  Machine machine;
  Limits limits;
  BenchOptions options;
  std::vector<std::unique_ptr<Contestant>> contestants;
};

}  // namespace backgauge
