// SPDX-License-Identifier: Apache-2.0
// Habits of touching what is not theirs: inputs, neighbours, outputs of a call that is over, the state of the thread.
#include <cfenv>
#include <chrono>
#include <cmath>
#include <thread>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "properties/saboteurs/hostile/habit.h"

namespace backgauge::saboteurs {
namespace {

using Call = const backgauge_call*;
using Message = backgauge_message*;

backgauge_status changes_an_input(Call call, Message message) {
  const backgauge_status status = right(call, message);
  if (status != BACKGAUGE_OK) return status;
  for (std::int32_t k = 0; k < call->num_inputs; ++k) {
    if (bytes_of(call->inputs[k]) > 0) *static_cast<unsigned char*>(call->inputs[k].data) ^= 1u;
  }
  return status;
}

backgauge_status changes_reserve_space(Call call, Message message) {
  const backgauge_status status = right(call, message);
  const backgauge_tensor* reserve = backgauge_find(call->inputs, call->num_inputs, "reserve_space");
  if (status == BACKGAUGE_OK && reserve != nullptr && bytes_of(*reserve) > 0) {
    *static_cast<unsigned char*>(reserve->data) ^= 1u;
  }
  return status;
}

backgauge_status writes_past_the_end(Call call, Message message) {
  const backgauge_status status = right(call, message);
  if (status != BACKGAUGE_OK) return status;
  for_outputs(*call, [](const backgauge_tensor& tensor, unsigned char* bytes) { bytes[bytes_of(tensor)] = 0; });
  return status;
}

backgauge_status writes_before_the_beginning(Call call, Message message) {
  const backgauge_status status = right(call, message);
  if (status != BACKGAUGE_OK) return status;
  for_outputs(*call, [](const backgauge_tensor&, unsigned char* bytes) { *(bytes - 1) = 0; });
  return status;
}

backgauge_status reads_past_the_end(Call call, Message message) {
  double beyond = 0;
  for (std::int32_t k = 0; k < call->num_inputs; ++k) {
    const backgauge_tensor& input = call->inputs[k];
    if (input.dtype == call->dtype && bytes_of(input) > 0) beyond += 0 * element(input, backgauge_elements(&input));
  }
  const backgauge_status status = right(call, message);
  if (status != BACKGAUGE_OK) return status;
  for_outputs(*call, [&](const backgauge_tensor& tensor, unsigned char*) {
    set_element(tensor, 0, element(tensor, 0) + beyond);
  });
  return status;
}

// The thread is quick enough for any case, and late enough for the call to be over.
backgauge_status late_write(Call call, Message message) {
  const backgauge_status status = right(call, message);
  if (status != BACKGAUGE_OK) return status;
  for_outputs(*call, [](const backgauge_tensor&, unsigned char* bytes) {
    std::thread([bytes] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      *bytes ^= 0x10u;
    }).detach();
  });
  return status;
}

backgauge_status leaves_rounding_upward(Call call, Message message) {
  const backgauge_status status = right(call, message);
  std::fesetround(FE_UPWARD);
  return status;
}

backgauge_status leaves_denormals_flushed(Call call, Message message) {
  const backgauge_status status = right(call, message);
#if defined(__x86_64__)
  constexpr unsigned kFlush = 0x8040;  // FTZ and DAZ
  _mm_setcsr(_mm_getcsr() | kFlush);
#else
  std::fesetround(FE_DOWNWARD);
#endif
  return status;
}

}  // namespace

std::vector<Habit> touching_habits() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"changes_an_input", "changes one bit of each input", kCases, kFailed, "changed the input", changes_an_input},
      {"changes_reserve_space", "uses reserve_space as workspace, and does not say so", kCases, kFailed,
       "changed the input reserve_space", changes_reserve_space},
      {"writes_past_the_end", "writes a byte after each output", kCases, kFailed, "wrote past the end of",
       writes_past_the_end},
      {"writes_before_the_beginning", "writes a byte before each output", kCases, kFailed,
       "wrote before the beginning of", writes_before_the_beginning},
      {"reads_past_the_end", "reads an element after each input, and uses it", kCases, kFailed, "read past the end of",
       reads_past_the_end},
      {"late_write", "lets a thread change the outputs when the call has returned", kWorker, kFailed,
       "after the call had returned", late_write},
      {"leaves_rounding_upward", "leaves the rounding direction changed", kCases, kFailed, "floating-point environment",
       leaves_rounding_upward},
      {"leaves_denormals_flushed", "leaves FTZ and DAZ set", kCases, kFailed, "floating-point environment",
       leaves_denormals_flushed},
  };
}

}  // namespace backgauge::saboteurs
