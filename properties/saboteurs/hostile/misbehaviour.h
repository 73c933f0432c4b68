// SPDX-License-Identifier: Apache-2.0
// The definition of a misbehaviour, and helper functions for writing one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "properties/saboteurs/hostile/hostile.h"

namespace backgauge::saboteurs {

using Call = const backgauge_call*;
using Message = backgauge_message*;

// The correct implementation that every misbehaviour starts from.
const backgauge_implementation& correct();

// Calls run or forward of `correct`, according to the op, and returns its status.
backgauge_status right(Call call, Message message);

// The same, and `act` if the call has succeeded.
template <class Act>
backgauge_status after_right(Call call, Message message, Act act) {
  const backgauge_status status = right(call, message);
  if (status == BACKGAUGE_OK) act();
  return status;
}

struct Misbehaviour {
  const char* id;
  const char* what;
  Hostile::Trial trial;
  Hostile::Verdict verdict;
  const char* reason;
  decltype(backgauge_implementation::run) run;  // nullptr: that of `correct`, as for the functions below
  decltype(backgauge_implementation::prepare) prepare = nullptr;
  decltype(backgauge_implementation::dropout_mask) dropout_mask = nullptr;
  decltype(backgauge_implementation::forward) forward = nullptr;
  void (*claim)(Claims&) = nullptr;  // changes the claims of each op
  const char* name = nullptr;        // nullptr: the id
  const char* version = nullptr;     // nullptr: that of `correct`
};
std::vector<Misbehaviour> value_misbehaviours();       // values.cc: wrong values
std::vector<Misbehaviour> memory_misbehaviours();      // memory.cc: caches, old contents
std::vector<Misbehaviour> write_misbehaviours();       // writes.cc: writes outside of the outputs
std::vector<Misbehaviour> prepare_misbehaviours();     // planning.cc: invalid answers of prepare
std::vector<Misbehaviour> text_misbehaviours();        // speaking.cc: invalid texts
std::vector<Misbehaviour> mask_misbehaviours();        // draw.cc: dropout masks
std::vector<Misbehaviour> refusal_misbehaviours();     // refusing.cc: refused calls
std::vector<Misbehaviour> concurrent_misbehaviours();  // crowd.cc: concurrent calls, numbers of threads
std::vector<Misbehaviour> process_misbehaviours();     // death.cc: the process

// A value of Misbehaviour::claim.
inline void not_deterministic(Claims& claims) { claims.determinism = BACKGAUGE_NOT_DETERMINISTIC; }

inline std::size_t bytes_of(const backgauge_tensor& tensor) {
  return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
}

// Calls `act` with every output that has an element, and its bytes.
template <class Act>
void for_outputs(const backgauge_call& call, Act act) {
  for (std::int32_t k = 0; k < call.num_outputs; ++k) {
    if (bytes_of(call.outputs[k]) > 0) act(call.outputs[k], static_cast<unsigned char*>(call.outputs[k].data));
  }
}

// Changes a byte, and restores it.
inline void restore_a_byte(void* data) {
  auto* byte = static_cast<volatile unsigned char*>(data);
  const unsigned char before = *byte;
  *byte = static_cast<unsigned char>(~before);
  *byte = before;
}

double element(const backgauge_tensor& tensor, std::int64_t index);
void set_element(const backgauge_tensor& tensor, std::int64_t index, double value);

// right(), and then `act` for every output, as above.
template <class Act>
backgauge_status with_outputs(Call call, Message message, Act act) {
  return after_right(call, message, [&] { for_outputs(*call, act); });
}

// right() with change(value) in place of every value.
template <class Change>
backgauge_status with_elements(Call call, Message message, Change change) {
  return with_outputs(call, message, [&](const backgauge_tensor& tensor, unsigned char*) {
    for (std::int64_t k = 0; k < backgauge_elements(&tensor); ++k) set_element(tensor, k, change(element(tensor, k)));
  });
}

// right() with `more` added to the first element of every output.
backgauge_status with_more(Call call, Message message, double more);

// Makes the first element of every output wrong, beyond any bound.
void spoil(const backgauge_call& call);

// output: on input correct values. On output values found in this process's memory, in an array of double or long
// double that begins like the output; zeros if there is none (memory_search.cc).
void take_from_memory(const backgauge_tensor& output);

// A hash of the op, dtype and shapes of a call.
std::uint64_t shape_key(const backgauge_call& call);

// Copies the bytes of the outputs, and writes them back.
std::vector<std::vector<unsigned char>> outputs_of(const backgauge_call& call);
void give(const backgauge_call& call, const std::vector<std::vector<unsigned char>>& outputs);

}  // namespace backgauge::saboteurs
