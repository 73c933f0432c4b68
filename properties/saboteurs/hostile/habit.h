// SPDX-License-Identifier: Apache-2.0
// What the habits are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properties/saboteurs/hostile/hostile.h"

namespace backgauge::saboteurs {

// The implementation that all of them have the habits of.
const backgauge_implementation& correct();

// What `correct` answers, whichever op it is.
backgauge_status right(const backgauge_call* call, backgauge_message* message);

struct Habit {
  const char* id;
  const char* what;
  Hostile::Trial trial;
  Hostile::Verdict verdict;
  const char* reason;
  decltype(backgauge_implementation::run) run;  // of the gradients; nullptr: as correct
  decltype(backgauge_implementation::prepare) prepare = nullptr;
  decltype(backgauge_implementation::dropout_mask) dropout_mask = nullptr;
  decltype(backgauge_implementation::forward) forward = nullptr;
  void (*claim)(backgauge_op_claims&) = nullptr;  // what it claims otherwise, of each op
  const char* name = nullptr;                     // nullptr: the id
  const char* version = nullptr;                  // nullptr: as correct
};
std::vector<Habit> cheating_habits();     // about values: values.cc
std::vector<Habit> remembering_habits();  // of what was: memory.cc
std::vector<Habit> touching_habits();     // of what is not theirs: touch.cc
std::vector<Habit> planning_habits();     // of prepare: planning.cc
std::vector<Habit> speaking_habits();     // of texts: speaking.cc
std::vector<Habit> drawing_habits();      // of drawing dropout masks: draw.cc
std::vector<Habit> refusing_habits();     // of calls that they refuse: refusing.cc
std::vector<Habit> crowded_habits();      // that show where several threads call, or are used: crowd.cc
std::vector<Habit> dying_habits();        // or worse, for the process: death.cc

inline std::size_t bytes_of(const backgauge_tensor& tensor) {
  return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
}

// Every output that has an element. `act` gets the tensor and its bytes.
template <class Act>
void for_outputs(const backgauge_call& call, Act act) {
  for (std::int32_t k = 0; k < call.num_outputs; ++k) {
    if (bytes_of(call.outputs[k]) > 0) act(call.outputs[k], static_cast<unsigned char*>(call.outputs[k].data));
  }
}

double element(const backgauge_tensor& tensor, std::int64_t index);
void set_element(const backgauge_tensor& tensor, std::int64_t index, double value);

// Makes the first element of every output wrong, beyond any bound.
void spoil(const backgauge_call& call);

// The shapes of a call, as a number.
std::uint64_t shape_key(const backgauge_call& call);

// The outputs' bytes, and back.
std::vector<std::vector<unsigned char>> outputs_of(const backgauge_call& call);
void give(const backgauge_call& call, const std::vector<std::vector<unsigned char>>& outputs);

}  // namespace backgauge::saboteurs
