// SPDX-License-Identifier: Apache-2.0
// The table of the plug-in. cuDNN is loaded only with it.
#include <algorithm>

#include "impl/cudnn/ops.h"
#include "impl/device_absence.h"
#include "impl/table_checks.h"

namespace backgauge::cudnn {
namespace {

void execute(const backgauge_call& call, const Extents& extents, Workspace& memory) {
  return call.op == BACKGAUGE_CUDNN_RNN ? cudnn_rnn_forward(call, extents, memory)
                                        : cudnn_rnn_backprop(call, extents, memory);
}

backgauge_status plan(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                      backgauge_message* message) {
  Workspace count;
  execute(call, extents, count);
  return fill_plan(count, reserve_length(call, extents), plan, message);
}

Claims claims() {
  Claims claims(BACKGAUGE_CUDNN_RNN_BACKPROP);
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32) | BACKGAUGE_BIT(BACKGAUGE_FLOAT64);
  claims.accuracy_class = BACKGAUGE_CLASS_A_PRIME;  // h is read back from `output`
  claims.numerical_contract = settings().tensor_op ? BACKGAUGE_FP32_TF32 : BACKGAUGE_FP32_STRICT;
  claims.numerical_contract.set(BACKGAUGE_HALF, BACKGAUGE_FP16_ACC32);  // tensor cores take half operands
  claims.determinism = settings().deterministic ? BACKGAUGE_BITWISE : BACKGAUGE_NOT_DETERMINISTIC;
  claims.changes_reserve_space = true;
  return claims;
}

const TableChecks& checks() {
  static const TableChecks kChecks({claims()}, plan, BACKGAUGE_CUDA);
  return kChecks;
}

backgauge_status prepare(const backgauge_call* call, backgauge_plan* answer, backgauge_message* message) {
  return checks().prepare(call, answer, message);
}

void execute_in_its_memory(const backgauge_call& call, const Extents& extents) {
  Workspace memory(call.workspace);
  execute(call, extents, memory);
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  return checks().run(false, call, message, execute_in_its_memory);
}

backgauge_status forward(const backgauge_call* call, backgauge_message* message) {
  return checks().run(true, call, message, execute_in_its_memory);
}

backgauge_status dropout_mask(const backgauge_call* call, std::int32_t gap, std::uint8_t* keep,
                              backgauge_message* message) {
  return checks().mask(call, gap, keep, message, [=](const backgauge_call& checked, const Extents& e) {
    const float dropout = checked.attributes.dropout;
    if (dropout == 0 || dropout == 1) {
      std::fill_n(keep, mask_elements(e), std::uint8_t{dropout == 0});
    } else {
      reveal_mask(checked, e, gap, keep);
    }
  });
}

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
  static const backgauge_implementation table = {
      BACKGAUGE_ABI,
      sizeof(backgauge_implementation),
      "cudnn",
      library_version().c_str(),
      "cuDNN's RNN functions on the current CUDA device",
      BACKGAUGE_CUDA,
      checks().claims().size(),
      checks().claims().data(),
      prepare,
      run,
      forward,
      dropout_mask,
  };
  return &table;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return refusal().c_str(); }
