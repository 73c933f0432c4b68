// SPDX-License-Identifier: Apache-2.0
// The table, as a plug-in.
#include "impl/cublas/ops.h"
#include "impl/device_absence.h"
#include "impl/table_of_ops.h"

namespace backgauge::cublas {
namespace {

std::vector<Claims> claims() {
  Claims claims(BACKGAUGE_BLOCK_LSTM_GRAD_V2);
  claims.accuracy_class = BACKGAUGE_CLASS_B;
  claims.determinism = BACKGAUGE_NOT_DETERMINISTIC;  // cuBLAS chooses kernels by alignment, too
  return {claims};
}

constexpr TableOps<Workspace> kOps{.claims = claims, .execute = block_lstm_grad_v2, .memory_space = BACKGAUGE_CUDA};

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
  static const backgauge_implementation table =
      backgauge::Table<kOps>::make("cublas", BACKGAUGE_CUBLAS_VERSION,
                                   "TensorFlow's loop for a GPU: a kernel for each expression, two products a step");
  return &table;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return absence().c_str(); }
