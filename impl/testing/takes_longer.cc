// SPDX-License-Identifier: Apache-2.0
// The cpu implementation, right in every output; each call does more work than it needs, as a
// comparison must find.
//   BACKGAUGE_TEST_LONGER=1.02         takes 1.02 times the CPU time; by default 1.05 times
//   BACKGAUGE_TEST_LONGER_OP=NAME      only in this op
//   BACKGAUGE_TEST_INSTRUCTIONS=N      executes N instructions more instead
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "impl/cpu/table/cpu.h"
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

// A subtraction and a jump each.
constexpr double kOfAnIteration = 2;
void iterate(double times) {
  for (long left = static_cast<long>(times); left > 0; --left) {
    asm volatile("");  // keeps the loop
  }
}

double iterations_per_second() {
  constexpr double kMany = 200'000;
  double least = 1;
  for (int k = 0; k < 5; ++k) {
    const double start = cpu_seconds();
    iterate(kMany);
    least = std::min(least, cpu_seconds() - start);
  }
  return kMany / least;
}

// What calls of one size take by themselves: the shortest of the first ones, which are measured. Later ones are not,
// because reading the clock would make short calls longer still.
struct Size {
  int measured = 0;
  double seconds = 1;
};
constexpr int kMeasured = 50;  // the first are slower: caches are cold, and pages are touched for the first time

// Takes 0.1 us, 3 % of a short call.
Size& look_up_size(const backgauge_call& call) {
  static thread_local std::map<std::pair<int, std::int64_t>, Size> sizes;
  std::int64_t elements = 0;
  for (std::int32_t k = 0; k < call.num_inputs; ++k) {
    std::int64_t product = 1;
    for (std::int32_t d = 0; d < call.inputs[k].rank; ++d) product *= call.inputs[k].shape[d];
    elements = 31 * elements + product;
  }
  return sizes[{call.op, elements}];
}

// The size of the last call if this one describes its tensors in the same place, as timed calls do.
Size& size_of(const backgauge_call& call) {
  static thread_local std::pair<const void*, Size*> last;
  if (last.first != call.inputs) last = {call.inputs, &look_up_size(call)};
  return *last.second;
}

backgauge_status take_longer(const backgauge_call* call, backgauge_message* message) {
  static const double rate = iterations_per_second();
  static thread_local bool measuring = true;  // the sizes of a call may be read once it has succeeded
  const double start = measuring ? cpu_seconds() : 0;
  const backgauge_status status = inner->run(call, message);
  if (status != BACKGAUGE_OK) return status;  // whatever is wrong with it, it was refused
  Size& size = size_of(*call);
  if (measuring && size.measured < kMeasured) {
    ++size.measured;
    size.seconds = std::min(size.seconds, cpu_seconds() - start);
  }
  measuring = size.measured < kMeasured;
  if (size.measured > 0) iterate((longer - 1) * size.seconds * rate);
  return status;
}

// A malformed call may have anything in it, and is refused by the cpu implementation.
bool is_slow(const backgauge_call* call) {
  if (only_op == nullptr) return true;
  const backgauge::OpSpec* op = call == nullptr ? nullptr : backgauge::find_op(call->op);
  return op != nullptr && op->word == only_op;
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  if (!is_slow(call)) return inner->run(call, message);
  if (instructions == 0) return take_longer(call, message);
  const backgauge_status status = inner->run(call, message);
  iterate(instructions / kOfAnIteration);
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
