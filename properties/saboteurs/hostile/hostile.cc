// SPDX-License-Identifier: Apache-2.0
#include "properties/saboteurs/hostile/hostile.h"

#include <cmath>

#include "properties/saboteurs/hostile/misbehaviour.h"
#include "reference/contract/op_spec.h"
#include "reference/contract/storage.h"

namespace backgauge::saboteurs {
namespace {

const backgauge_implementation* within = nullptr;

ClaimArrays changed_claims(void (*change)(Claims&)) {
  std::vector<Claims> all;
  for (std::int32_t k = 0; k < within->num_claims; ++k) {
    std::string refusal;
    all.push_back(read_claims(within->claims[k], refusal).value());
    change(all.back());
  }
  return ClaimArrays(all);
}

std::byte* place_of(const backgauge_tensor& tensor, std::int64_t index) {
  return static_cast<std::byte*>(tensor.data) + static_cast<std::size_t>(index) * backgauge_dtype_bytes(tensor.dtype);
}

std::vector<Hostile> make_all(bool twins) {
  std::vector<Hostile> all;
  for (const auto& misbehaviours : {value_misbehaviours(), memory_misbehaviours(), write_misbehaviours(),
                                    mask_misbehaviours(), refusal_misbehaviours(), concurrent_misbehaviours(),
                                    prepare_misbehaviours(), text_misbehaviours(), process_misbehaviours()}) {
    for (const Misbehaviour& misbehaviour : misbehaviours) {
      if ((misbehaviour.verdict == Hostile::Verdict::kPassed) != twins) continue;
      Hostile hostile{misbehaviour.id,      misbehaviour.what,   misbehaviour.trial,
                      misbehaviour.verdict, misbehaviour.reason, *within};
      hostile.table.name = misbehaviour.name != nullptr ? misbehaviour.name : misbehaviour.id;
      if (misbehaviour.version != nullptr) hostile.table.version = misbehaviour.version;
      hostile.table.description = misbehaviour.what;
      if (misbehaviour.run != nullptr) hostile.table.run = misbehaviour.run;
      if (misbehaviour.prepare != nullptr) hostile.table.prepare = misbehaviour.prepare;
      if (misbehaviour.dropout_mask != nullptr) hostile.table.dropout_mask = misbehaviour.dropout_mask;
      if (misbehaviour.forward != nullptr) hostile.table.forward = misbehaviour.forward;
      if (misbehaviour.claim != nullptr) {
        hostile.claims = changed_claims(misbehaviour.claim);
        hostile.table.claims = hostile.claims.data();  // stays valid when `hostile` is moved
      }
      all.push_back(std::move(hostile));
    }
  }
  return all;
}

}  // namespace

const std::vector<Hostile>& hostile_implementations(const backgauge_implementation& implementation) {
  if (within == nullptr) within = &implementation;
  static const std::vector<Hostile> all = make_all(false);
  return all;
}

const std::vector<Hostile>& correct_twins(const backgauge_implementation& implementation) {
  if (within == nullptr) within = &implementation;
  static const std::vector<Hostile> all = make_all(true);
  return all;
}

const backgauge_implementation& correct() { return *within; }

bool is_forward(const backgauge_call& call) {
  const OpSpec* spec = find_op(call.op);  // malformed calls may name no op
  return spec != nullptr && spec->traits.gradient;
}

backgauge_status right(Call call, Message message) {
  return (is_forward(*call) ? within->forward : within->run)(call, message);
}

double element(const backgauge_tensor& tensor, std::int64_t index) {
  double value = 0;
  decode(static_cast<backgauge_dtype>(tensor.dtype), place_of(tensor, index), {&value, 1});
  return value;
}

void set_element(const backgauge_tensor& tensor, std::int64_t index, double value) {
  encode(static_cast<backgauge_dtype>(tensor.dtype), {&value, 1}, place_of(tensor, index));
}

backgauge_status with_more(Call call, Message message, double more) {
  return with_outputs(call, message, [more](const backgauge_tensor& tensor, unsigned char*) {
    set_element(tensor, 0, element(tensor, 0) + more);
  });
}

void spoil(const backgauge_call& call) {
  for_outputs(call, [](const backgauge_tensor& tensor, unsigned char*) {
    const double value = element(tensor, 0);
    set_element(tensor, 0, std::isfinite(value) ? 2 * value + 1 : 0);
  });
}

std::uint64_t shape_key(const backgauge_call& call) {
  std::uint64_t key = static_cast<std::uint64_t>(call.op) * 31 + static_cast<std::uint64_t>(call.dtype);
  const auto add = [&key](std::uint64_t number) { key = (key ^ number) * 0x100000001b3u; };
  for (std::int32_t k = 0; k < call.num_inputs; ++k) {
    for (std::int32_t d = 0; d < call.inputs[k].rank; ++d) add(static_cast<std::uint64_t>(call.inputs[k].shape[d]));
  }
  return key;
}

std::vector<std::vector<unsigned char>> outputs_of(const backgauge_call& call) {
  std::vector<std::vector<unsigned char>> outputs;
  for_outputs(call, [&](const backgauge_tensor& tensor, const unsigned char* bytes) {
    outputs.emplace_back(bytes, bytes + bytes_of(tensor));
  });
  return outputs;
}

void give(const backgauge_call& call, const std::vector<std::vector<unsigned char>>& outputs) {
  std::size_t k = 0;
  for_outputs(call, [&](const backgauge_tensor& tensor, unsigned char* bytes) {
    if (k < outputs.size() && outputs[k].size() == bytes_of(tensor)) {
      std::memcpy(bytes, outputs[k].data(), outputs[k].size());
    }
    ++k;
  });
}

}  // namespace backgauge::saboteurs
