// SPDX-License-Identifier: Apache-2.0
// Changes what must not be changed: inputs, neighbouring memory, outputs after the call, the thread's state.
#include <cfenv>
#include <chrono>
#include <thread>

#include "properties/saboteurs/hostile/float_state.h"
#include "properties/saboteurs/hostile/misbehaviour.h"

namespace backgauge::saboteurs {
namespace {

backgauge_status changes_an_input(Call call, Message message) {
  return after_right(call, message, [=] {
    for (std::int32_t k = 0; k < call->num_inputs; ++k) {
      if (bytes_of(call->inputs[k]) > 0) *static_cast<unsigned char*>(call->inputs[k].data) ^= 1u;
    }
  });
}

// Uses inputs as scratch, and restores them.
backgauge_status restores_inputs(Call call, Message message) {
  return after_right(call, message, [=] {
    for (std::int32_t k = 0; k < call->num_inputs; ++k) {
      if (bytes_of(call->inputs[k]) > 0) restore_a_byte(call->inputs[k].data);
    }
  });
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
  return with_outputs(call, message,
                      [](const backgauge_tensor& tensor, unsigned char* bytes) { bytes[bytes_of(tensor)] = 0; });
}

backgauge_status writes_before_the_beginning(Call call, Message message) {
  return with_outputs(call, message, [](const backgauge_tensor&, unsigned char* bytes) { *(bytes - 1) = 0; });
}

backgauge_status reads_past_the_end(Call call, Message message) {
  double beyond = 0;
  for (std::int32_t k = 0; k < call->num_inputs; ++k) {
    const backgauge_tensor& input = call->inputs[k];
    if (input.dtype == call->dtype && bytes_of(input) > 0) beyond += 0 * element(input, backgauge_elements(&input));
  }
  return with_more(call, message, beyond);
}

// Leaves the state of the calling thread changed.
template <void (*leave)()>
backgauge_status right_but_for(Call call, Message message) {
  const backgauge_status status = right(call, message);
  leave();
  return status;
}

// The thread waits long enough for the call to have returned, but not for the outputs to be freed.
backgauge_status late_write(Call call, Message message) {
  return with_outputs(call, message, [](const backgauge_tensor&, unsigned char* bytes) {
    std::thread([bytes] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      *bytes ^= 0x10u;
    }).detach();
  });
}

backgauge_status overruns_the_message(Call call, Message message) {
  const backgauge_status status = right(call, message);
  volatile char* text = message->text;
  text[sizeof message->text] = '\0';  // where the terminator of 512 characters goes
  return status;
}

backgauge_status overruns_the_plan(Call call, backgauge_plan* plan, Message message) {
  const backgauge_status status = correct().prepare(call, plan, message);
  std::memset(plan + 1, 0, sizeof *plan);  // as if built with a longer struct
  return status;
}

backgauge_status overruns_keep(Call call, std::int32_t gap, std::uint8_t* keep, Message message) {
  const backgauge_status status = correct().dropout_mask(call, gap, keep, message);
  const backgauge_tensor* output = backgauge_find(call->inputs, call->num_inputs, "output");
  if (status == BACKGAUGE_OK && output != nullptr && keep != nullptr) keep[backgauge_elements(output)] = 1;
  return status;
}

backgauge_status changes_the_call(Call call, Message message) {
  const_cast<backgauge_call*>(call)->num_threads = 1;
  return right(call, message);
}

// Changes a shape, as if to view a tensor as a matrix.
backgauge_status changes_a_shape(Call call, Message message) {
  return after_right(call, message, [=] {
    volatile std::int64_t* shape = const_cast<backgauge_tensor*>(call->inputs)->shape;
    const std::int64_t first = shape[0];
    shape[0] = shape[1];
    shape[0] = first;
  });
}

backgauge_status changes_a_name(Call call, Message message) {
  return after_right(call, message, [=] { const_cast<char*>(call->inputs[0].name)[0] ^= 0x20; });
}

backgauge_status prepare_leaves_rounding(Call call, backgauge_plan* plan, Message message) {
  const backgauge_status status = correct().prepare(call, plan, message);
  std::fesetround(FE_TOWARDZERO);
  return status;
}

// Changes the rounding direction during the call, which is allowed, since nothing of it remains afterwards.
backgauge_status restores_rounding(Call call, Message message) {
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  std::fesetround(before);
  return right(call, message);
}

}  // namespace

std::vector<Misbehaviour> write_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"changes_an_input", "changes one bit of each input", kCases, kFailed, "changed the input", changes_an_input},
      {"restores_inputs", "overwrites each input and restores it", kCases, kFailed, "wrote to the input",
       restores_inputs},
      {"changes_reserve_space", "uses reserve_space as workspace, and does not claim to change it", kCases, kFailed,
       "changed the input reserve_space", changes_reserve_space},
      {"writes_past_the_end", "writes a byte after each output", kCases, kFailed, "wrote past the end of",
       writes_past_the_end},
      {"writes_before_the_beginning", "writes a byte before each output", kCases, kFailed,
       "wrote before the beginning of", writes_before_the_beginning},
      {"reads_past_the_end", "reads an element after each input, and uses it", kCases, kFailed, "read past the end of",
       reads_past_the_end},
      {"late_write", "starts a thread that changes the outputs after the call has returned", kWorker, kFailed,
       "after the call had returned", late_write},
      {"leaves_rounding_upward", "leaves the rounding direction changed", kCases, kFailed, "floating-point environment",
       right_but_for<leave_rounding_upward>},
      {"leaves_denormals_flushed", "leaves FTZ and DAZ set", kCases, kFailed, "floating-point environment",
       right_but_for<leave_flushing>},
      {"overruns_the_message", "writes a NUL after the message", kCases, kFailed, "wrote past the end of the message",
       overruns_the_message},
      {"overruns_the_plan", "clears memory after the plan", kCases, kFailed, "wrote past the end of the plan", nullptr,
       overruns_the_plan},
      {"overruns_keep", "writes a byte after the dropout mask", kCases, kFailed, "wrote past the end of keep", nullptr,
       nullptr, overruns_keep},
      {"changes_the_call", "sets the number of threads in the call", kCases, kFailed, "wrote to the call",
       changes_the_call},
      {"changes_a_shape", "changes a dimension of the call, and restores it", kCases, kFailed,
       "wrote to the description of", changes_a_shape},
      {"changes_a_name", "changes a name of the call", kCases, kFailed, "wrote to the name of", changes_a_name},
      {"leaves_mmx", kLeavesMmx, kCases, kFailed, "floating-point environment", right_but_for<leave_mmx>},
      {"leaves_x87_stack", kLeavesX87, kCases, kFailed, "floating-point environment", right_but_for<leave_x87_stack>},
      {"forward_leaves_flushing", "leaves FTZ and DAZ set in forward", kCases, kFailed,
       "forward left the floating-point environment", nullptr, nullptr, nullptr, right_but_for<leave_flushing>},
      {"prepare_leaves_rounding", "leaves the rounding direction changed in prepare", kCases, kFailed,
       "prepare left the floating-point environment", nullptr, prepare_leaves_rounding},
      {"restores_rounding", "changes the rounding direction and restores it", kCases, kPassed, "", restores_rounding},
  };
}

}  // namespace backgauge::saboteurs
