// SPDX-License-Identifier: Apache-2.0
// The table, as a plug-in.
#include "impl/cublas/ops.h"
#include "impl/device_absence.h"
#include "impl/table_checks.h"

namespace backgauge::cublas {
namespace {

Claims claims() {
  Claims claims(BACKGAUGE_BLOCK_LSTM_GRAD_V2);
  claims.accuracy_class = BACKGAUGE_CLASS_B;
  claims.determinism = BACKGAUGE_NOT_DETERMINISTIC;  // cuBLAS chooses kernels by alignment, too
  return claims;
}

backgauge_status plan(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                      backgauge_message* message) {
  Workspace count;
  block_lstm_grad_v2(call, extents, count);
  return fill_plan(count, 0, plan, message);
}

const TableChecks kChecks({claims()}, plan, BACKGAUGE_CUDA);

backgauge_status prepare(const backgauge_call* call, backgauge_plan* answer, backgauge_message* message) {
  return kChecks.prepare(call, answer, message);
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  return kChecks.run(false, call, message, [](const backgauge_call& checked, const Extents& extents) {
    Workspace memory(checked.workspace);
    block_lstm_grad_v2(checked, extents, memory);
  });
}

const std::string& absence() {
  static const std::string text = device_absence();
  return text;
}

}  // namespace
}  // namespace backgauge::cublas

using namespace backgauge::cublas;

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  if (host == nullptr || host->abi != BACKGAUGE_ABI || !absence().empty()) return nullptr;
  static const backgauge_implementation table = {
      BACKGAUGE_ABI,
      sizeof(backgauge_implementation),
      "cublas",
      BACKGAUGE_CUBLAS_VERSION,
      "TensorFlow's loop for a GPU: a kernel for each expression, two products a step",
      BACKGAUGE_CUDA,
      kChecks.claims().size(),
      kChecks.claims().data(),
      prepare,
      run,
      nullptr,
      nullptr,
  };
  return &table;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return absence().c_str(); }
