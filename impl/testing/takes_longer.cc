// SPDX-License-Identifier: Apache-2.0
// The cpu implementation, right in every output; each call does more work than it needs. What a comparison must find.
//   BACKGAUGE_TEST_LONGER=1.02         takes 1.02 times the CPU time; by default 1.05 times
//   BACKGAUGE_TEST_LONGER_OP=NAME      only in this op
//   BACKGAUGE_TEST_INSTRUCTIONS=N      executes N instructions more instead
#include <time.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "impl/cpu/cpu.h"
#include "reference/contract/op_spec.h"

namespace {

const backgauge_implementation* inner = nullptr;

double setting(const char* name, double otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atof(value);
}

const double longer = setting("BACKGAUGE_TEST_LONGER", 1.05);
const char* const only_op = std::getenv("BACKGAUGE_TEST_LONGER_OP");
const double instructions = setting("BACKGAUGE_TEST_INSTRUCTIONS", 0);

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void execute_more() {
  constexpr long kOfAnIteration = 2;  // a subtraction and a jump
  for (long left = static_cast<long>(instructions) / kOfAnIteration; left > 0; --left) {
    asm volatile("");  // keeps the loop
  }
}

// CPU time, because the share that others take of a call is not this call's.
void take_longer(double start) {
  const double end = start + longer * (cpu_seconds() - start);
  while (cpu_seconds() < end) {
  }
}

// A malformed call may have anything in it, and is refused by the cpu implementation.
bool is_slow(const backgauge_call* call) {
  if (only_op == nullptr) return true;
  const backgauge::OpSpec* op = call == nullptr ? nullptr : backgauge::find_op(call->op);
  return op != nullptr && op->word == only_op;
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  if (!is_slow(call)) return inner->run(call, message);
  const double start = instructions > 0 ? 0 : cpu_seconds();
  const backgauge_status status = inner->run(call, message);
  instructions > 0 ? execute_more() : take_longer(start);
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
