// SPDX-License-Identifier: Apache-2.0
// The table of the plug-in. cuDNN is loaded only with it.
#include <algorithm>

#include "impl/cudnn/ops.h"
#include "impl/device_absence.h"
#include "impl/table_of_ops.h"

namespace backgauge::cudnn {
namespace {

void execute(const backgauge_call& call, const Extents& extents, Workspace& memory) {
  return call.op == BACKGAUGE_CUDNN_RNN ? cudnn_rnn_forward(call, extents, memory)
                                        : cudnn_rnn_backprop(call, extents, memory);
}

std::vector<Claims> claims() {
  Claims claims(BACKGAUGE_CUDNN_RNN_BACKPROP);
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32) | BACKGAUGE_BIT(BACKGAUGE_FLOAT64);
  claims.accuracy_class = BACKGAUGE_CLASS_A_PRIME;  // h is read back from `output`
  claims.numerical_contract = settings().tensor_op ? BACKGAUGE_FP32_TF32 : BACKGAUGE_FP32_STRICT;
  claims.numerical_contract.set(BACKGAUGE_HALF, BACKGAUGE_FP16_ACC32);  // tensor cores take half operands
  claims.determinism = settings().deterministic ? BACKGAUGE_BITWISE : BACKGAUGE_NOT_DETERMINISTIC;
  claims.changes_reserve_space = true;
  return {claims};
}

void copy_mask(const backgauge_call& call, const Extents& extents, std::int32_t gap, std::uint8_t* keep) {
  const float dropout = call.attributes.dropout;
  if (dropout == 0 || dropout == 1) {
    std::fill_n(keep, mask_elements(extents), std::uint8_t{dropout == 0});
  } else {
    reveal_mask(call, extents, gap, keep);
  }
}

constexpr TableOps<Workspace> kOps{claims, execute, reserve_length, copy_mask, BACKGAUGE_CUDA};

const std::string& refusal() {
  static const std::string text = [] {
    std::string absence = device_absence();
    return absence.empty() ? settings().refusal : absence;
  }();
  return text;
}

}  // namespace
}  // namespace backgauge::cudnn

using namespace backgauge::cudnn;

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  if (host == nullptr || host->abi != BACKGAUGE_ABI || !refusal().empty()) return nullptr;
  static const backgauge_implementation table = backgauge::Table<kOps>::make(
      "cudnn", library_version().c_str(), "cuDNN's RNN functions on the current CUDA device");
  return &table;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return refusal().c_str(); }
