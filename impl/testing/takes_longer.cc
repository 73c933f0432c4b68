// SPDX-License-Identifier: Apache-2.0
// The cpu implementation, right in every output; each call takes 5 % longer. What a comparison of times must find.
#include <chrono>
#include <string>

#include "impl/cpu/cpu.h"

namespace {

const backgauge_implementation* inner = nullptr;

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  using Clock = std::chrono::steady_clock;
  constexpr double kLonger = 1.05;
  const Clock::time_point start = Clock::now();
  const backgauge_status status = inner->run(call, message);
  const std::chrono::duration<double> taken = Clock::now() - start;
  while (Clock::now() - start < kLonger * taken) {
  }
  return status;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host*) {
  static backgauge_implementation table;
  std::string error;
  inner = backgauge::cpu_implementation(error);
  if (inner == nullptr) return nullptr;
  table = *inner;
  table.name = "takes_longer";
  table.description = "slow on purpose";
  table.run = run;
  return &table;
}
