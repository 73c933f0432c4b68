// SPDX-License-Identifier: Apache-2.0
// An implementation for the tests of the judge: it answers what the reference says, and misbehaves as the test says.
#pragma once

#include <atomic>
#include <functional>
#include <type_traits>

#include "reference/contract/call.h"
#include "reference/contract/claims.h"

namespace backgauge::testing {

// A C table has no room for state: the functions of every table act for the one that was constructed last.
struct ScriptedImplementation {
  ScriptedImplementation();
  ScriptedImplementation(const ScriptedImplementation&) = delete;
  ScriptedImplementation& operator=(const ScriptedImplementation&) = delete;

  backgauge_implementation table;  // claims the usual value of every property of LSTMBlockCellGrad

  void claim(backgauge_op op);  // instead of the op before; another one in all its dtypes
  template <class T>
  void claim(PerDtype<T> Claims::*property, std::type_identity_t<T> value) {
    claims_.*property = value;
    publish();
  }

  // Called first. If it returns something other than BACKGAUGE_OK, that is the answer.
  std::function<backgauge_status(const backgauge_call&, backgauge_message&)> before;
  std::function<void(const backgauge_call&)> after_run;      // of run
  std::function<void(const backgauge_call&)> after_forward;  // of forward
  std::function<void(backgauge_plan&)> after_prepare;
  std::function<void(std::uint8_t*, std::size_t)> after_dropout_mask;
  std::function<backgauge_attributes(backgauge_attributes)> seeds;  // what forward draws masks from
  std::atomic<int> runs{0};                                         // calls of run so far

 private:
  void publish();

  Claims claims_;
  ClaimArrays arrays_;
};

// Element `index` of a tensor of a float32 call.
float& at(const backgauge_tensor* tensors, std::int32_t count, const char* name, std::int64_t index);
inline float& output_at(const backgauge_call& call, const char* name, std::int64_t index) {
  return at(call.outputs, call.num_outputs, name, index);
}
inline float& input_at(const backgauge_call& call, const char* name, std::int64_t index) {
  return at(call.inputs, call.num_inputs, name, index);
}

}  // namespace backgauge::testing
