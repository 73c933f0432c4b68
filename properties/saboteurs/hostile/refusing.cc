// SPDX-License-Identifier: Apache-2.0
// Misbehaviour that shows only in refused calls. Legal calls are computed correctly.
#include <atomic>
#include <chrono>
#include <thread>

#include "properties/saboteurs/hostile/float_state.h"
#include "properties/saboteurs/hostile/misbehaviour.h"

namespace backgauge::saboteurs {
namespace {

// Refuses the call, then runs `misbehaviour`.
template <class Act>
backgauge_status once_refused(Call call, Message message, Act misbehaviour) {
  const backgauge_status status = right(call, message);
  if (status != BACKGAUGE_OK) misbehaviour();
  return status;
}

template <void (*leave)()>
backgauge_status refused_but_for(Call call, Message message) {
  return once_refused(call, message, leave);
}

bool has_inputs(Call call) { return call->inputs != nullptr && call->num_inputs > 0; }

backgauge_status overruns_the_message_of_a_refusal(Call call, Message message) {
  return once_refused(call, message, [message] {
    volatile char* text = message->text;
    text[sizeof message->text] = '\0';  // where the terminator of 512 characters goes
  });
}

// Like an implementation that prints an address in front of the text.
backgauge_status underruns_the_message(Call call, Message message) {
  return once_refused(call, message, [message] {
    volatile char* text = message->text;
    text[-1] = ' ';
  });
}

// Sets num_threads to a legal value, as if to repair the call.
backgauge_status corrects_the_call(Call call, Message message) {
  return once_refused(call, message, [call] { const_cast<backgauge_call*>(call)->num_threads = 2; });
}

// Changes a shape, as if to try another one, and restores it.
backgauge_status restores_a_shape(Call call, Message message) {
  return once_refused(call, message, [call] {
    if (!has_inputs(call)) return;
    volatile std::int64_t* shape = const_cast<backgauge_tensor*>(call->inputs)->shape;
    const std::int64_t first = shape[0];
    shape[0] = first + 1;
    shape[0] = first;
  });
}

backgauge_status restores_a_name(Call call, Message message) {
  return once_refused(call, message, [call] {
    if (!has_inputs(call) || call->inputs[0].name == nullptr) return;
    volatile char* name = const_cast<char*>(call->inputs[0].name);
    const char first = name[0];
    name[0] = '?';
    name[0] = first;
  });
}

backgauge_status restores_inputs_of_a_refusal(Call call, Message message) {
  return once_refused(call, message, [call] {
    for (std::int32_t k = 0; has_inputs(call) && k < call->num_inputs; ++k) {
      if (call->inputs[k].data != nullptr) restore_a_byte(call->inputs[k].data);
    }
  });
}

// The thread waits long enough for the call to have returned.
backgauge_status writes_late(Call call, Message message) {
  return once_refused(call, message, [message] {
    std::thread([message] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      message->text[0] = '!';
    }).detach();
  });
}

backgauge_status leaves_a_thread(Call call, Message message) {
  return once_refused(call, message, [] {
    std::thread([] {
      for (std::atomic<int> rounds{0};; ++rounds) {
      }
    }).detach();
  });
}

}  // namespace

std::vector<Misbehaviour> refusal_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"refused_leaves_flushing", "leaves FTZ and DAZ set when it refuses", kRefused, kFailed,
       "floating-point environment", refused_but_for<leave_flushing>},
      {"refused_leaves_x87_stack", kLeavesX87, kRefused, kFailed, "floating-point environment",
       refused_but_for<leave_x87_stack>},
      {"refused_overruns_the_message", "writes a NUL after the message when it refuses", kRefused, kFailed,
       "wrote past the end of the message", overruns_the_message_of_a_refusal},
      {"refused_underruns_the_message", "writes before the message when it refuses", kRefused, kFailed,
       "wrote before the beginning of the message", underruns_the_message},
      {"refused_corrects_the_call", "sets the number of threads in a call that it refuses", kRefused, kFailed,
       "wrote to the call", corrects_the_call},
      {"refused_restores_a_shape", "changes a dimension of a call that it refuses, and restores it", kRefused, kFailed,
       "wrote to the description of", restores_a_shape},
      {"refused_restores_a_name", "changes a name of a call that it refuses, and restores it", kRefused, kFailed,
       "wrote to the name of", restores_a_name},
      {"refused_restores_inputs", "overwrites each input of a call that it refuses, and restores it", kRefused, kFailed,
       "wrote to the input", restores_inputs_of_a_refusal},
      {"refused_writes_late", "starts a thread that writes to the message after a refusal", kRefused, kFailed,
       "after the call had returned", writes_late},
      {"refused_leaves_a_thread", "leaves a spinning thread after each call that it refuses", kRefused, kBroken,
       "threads: ", leaves_a_thread},
  };
}

}  // namespace backgauge::saboteurs
