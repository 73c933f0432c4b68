// SPDX-License-Identifier: Apache-2.0
// Calls of every op, damaged field by field: whatever validate() accepts, the readable implementation computes within
// the memory of the call; whatever it refuses, the implementation refuses too, and writes nothing.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>

#include "impl/plain/plain.h"
#include "properties/testing/fuzz/expect.h"
#include "reference/contract/malformed.h"
#include "reference/contract/op_spec.h"
#include "reference/contract/validate.h"

namespace backgauge {
namespace {

CallSetup setup_from(FuzzedDataProvider& bytes) {
  const backgauge_op op = op_specs()[bytes.ConsumeIntegralInRange<std::size_t>(0, op_specs().size() - 1)].op;
  std::vector<backgauge_dtype> dtypes;
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if ((find_op(op)->dtypes & BACKGAUGE_BIT(dtype)) != 0) dtypes.push_back(dtype);
  }
  const backgauge_dtype dtype = dtypes[bytes.ConsumeIntegralInRange<std::size_t>(0, dtypes.size() - 1)];
  const std::vector<CallSetup> setups = base_setups(op, dtype);
  return setups[bytes.ConsumeIntegralInRange<std::size_t>(0, setups.size() - 1)];
}

constexpr int kMostDamages = 6, kLargestShift = 8;

std::int64_t size_from(FuzzedDataProvider& bytes, std::int64_t now) {
  switch (bytes.ConsumeIntegralInRange<int>(0, 4)) {
    case 0: return now;
    case 1: return now + bytes.ConsumeIntegralInRange<std::int64_t>(-2, 2);
    case 2: return bytes.ConsumeIntegralInRange<std::int64_t>(0, 9);
    default: return bytes.ConsumeIntegral<std::int64_t>();
  }
}

void damage_tensor(FuzzedDataProvider& bytes, OwnedCall& call) {
  auto& list = bytes.ConsumeBool() ? call.outputs : call.inputs;
  if (list.empty()) return;
  const std::size_t which = bytes.ConsumeIntegralInRange<std::size_t>(0, list.size() - 1);
  backgauge_tensor& tensor = list[which];
  switch (bytes.ConsumeIntegralInRange<int>(0, 9)) {
    case 0: tensor.rank = bytes.ConsumeIntegralInRange<std::int32_t>(-2, BACKGAUGE_MAX_RANK + 2); break;
    case 1: tensor.dtype = bytes.ConsumeIntegralInRange<std::int32_t>(-1, 6); break;
    case 2: tensor.memory_space = bytes.ConsumeIntegral<std::int32_t>(); break;
    case 3: tensor.data = nullptr; break;
    case 4:
      if (tensor.dtype != BACKGAUGE_INT64 && tensor.data != nullptr)
        tensor.data = static_cast<char*>(tensor.data) + bytes.ConsumeIntegralInRange<int>(0, kLargestShift);
      break;
    case 5: tensor.name = bytes.ConsumeBool() ? nullptr : "w"; break;
    case 6: list.erase(list.begin() + static_cast<std::ptrdiff_t>(which)); break;
    case 7: tensor.data = call.inputs.empty() ? nullptr : call.inputs.back().data; break;  // front: a single number
    default: {
      const int k = bytes.ConsumeIntegralInRange<int>(0, BACKGAUGE_MAX_RANK - 1);
      tensor.shape[k] = size_from(bytes, tensor.shape[k]);
    }
  }
}

// Changes a size everywhere, which gives a legal call with other dims.
void change_size_everywhere(FuzzedDataProvider& bytes, OwnedCall& call) {
  const std::int64_t from = bytes.ConsumeIntegralInRange<std::int64_t>(0, 16);
  const std::int64_t to = bytes.ConsumeIntegralInRange<std::int64_t>(0, 9);
  for (auto* list : {&call.inputs, &call.outputs}) {
    for (backgauge_tensor& tensor : *list) {
      for (std::int64_t& size : tensor.shape) {
        if (size == from) size = to;
      }
    }
  }
}

void damage_call(FuzzedDataProvider& bytes, OwnedCall& call) {
  backgauge_attributes& a = call.call.attributes;
  switch (bytes.ConsumeIntegralInRange<int>(0, 11)) {
    case 0: a.use_peephole = bytes.ConsumeIntegralInRange<std::int32_t>(-1, 2); break;
    case 1: a.rnn_mode = bytes.ConsumeIntegralInRange<std::int32_t>(-1, 5); break;
    case 2: a.input_mode = bytes.ConsumeIntegralInRange<std::int32_t>(-1, 5); break;
    case 3: a.direction = bytes.ConsumeIntegralInRange<std::int32_t>(-1, 5); break;
    case 4: a.seed = bytes.ConsumeIntegral<std::int64_t>(); break;
    case 5: a.seed2 = bytes.ConsumeIntegral<std::int64_t>(); break;
    case 6: a.dropout = bytes.ConsumeFloatingPoint<float>(); break;
    case 7: call.call.num_threads = bytes.ConsumeIntegral<std::int32_t>(); break;
    case 8:
      call.call.workspace_bytes = bytes.ConsumeIntegralInRange<std::uint64_t>(0, call.plan.workspace_bytes);
      break;
    case 9: call.call.op = bytes.ConsumeIntegralInRange<std::int32_t>(-1, 6); break;
    case 10: call.call.dtype = bytes.ConsumeIntegralInRange<std::int32_t>(-1, 6); break;
    default: call.seq_len_max() = size_from(bytes, call.seq_len_max()); break;
  }
}

// What an accepted call may touch must be there: only this harness knows that a buffer is twice as large as `bytes`.
bool within(const OwnedCall& call, std::size_t bytes) {
  const auto fits = [bytes](const backgauge_tensor& tensor) {
    return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype) +
               kMostDamages * kLargestShift <=
           2 * bytes;
  };
  return std::ranges::all_of(call.inputs, fits) && std::ranges::all_of(call.outputs, fits);
}

std::size_t largest_of(const OwnedCall& call) {
  std::size_t bytes = 0;
  for (const auto* list : {&call.inputs, &call.outputs}) {
    for (const backgauge_tensor& tensor : *list) {
      bytes =
          std::max(bytes, static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype));
    }
  }
  return bytes;
}

void fill_inputs(FuzzedDataProvider& bytes, OwnedCall& call) {
  const std::vector<std::uint8_t> pattern = bytes.ConsumeRemainingBytes<std::uint8_t>();
  if (pattern.empty()) return;
  std::size_t at = 0;
  for (backgauge_tensor& tensor : call.inputs) {
    if (tensor.dtype == BACKGAUGE_INT64) continue;
    const std::size_t count =
        static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
    auto* to = static_cast<std::uint8_t*>(tensor.data);
    for (std::size_t k = 0; k < count; ++k) to[k] = pattern[at++ % pattern.size()];
  }
}

void one_call(FuzzedDataProvider& bytes) {
  static const backgauge_implementation* plain = plain_entry(&host());
  OwnedCall call(setup_from(bytes), plain->prepare);
  const std::size_t room = largest_of(call);
  for (int damages = bytes.ConsumeIntegralInRange<int>(0, kMostDamages); damages > 0; --damages) {
    switch (bytes.ConsumeIntegralInRange<int>(0, 2)) {
      case 0: damage_tensor(bytes, call); break;
      case 1: change_size_everywhere(bytes, call); break;
      default: damage_call(bytes, call); break;
    }
  }
  call.link();

  backgauge_plan plan{};
  plan.struct_size = sizeof plan;
  backgauge_message message{};
  const bool prepared = plain->prepare(&call.call, &plan, &message) == BACKGAUGE_OK;
  const bool accepted = validate(call.call, plan.reserve_space_length).ok();
  BACKGAUGE_FUZZ_EXPECT(prepared || !accepted);
  const bool enough = call.call.workspace_bytes >= plan.workspace_bytes;
  if (accepted) {
    if (!within(call, room)) return;
    fill_inputs(bytes, call);
  }
  message.text[0] = '\0';
  const OpSpec* spec = find_op(call.call.op);
  const bool forward = spec != nullptr && spec->traits.gradient;
  const backgauge_status status = forward ? plain->forward(&call.call, &message) : plain->run(&call.call, &message);
  if (accepted && enough) {
    BACKGAUGE_FUZZ_EXPECT(status == BACKGAUGE_OK);
  } else {
    BACKGAUGE_FUZZ_EXPECT(status == BACKGAUGE_INVALID_ARGUMENT);
    BACKGAUGE_FUZZ_EXPECT(message.text[0] != '\0');
    BACKGAUGE_FUZZ_EXPECT(accepted || call.untouched());
  }
}

}  // namespace
}  // namespace backgauge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  backgauge::one_call(bytes);
  return 0;
}
