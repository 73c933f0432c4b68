// SPDX-License-Identifier: Apache-2.0
// The table, and the choice of the instruction set.
#include "impl/eigen/ops.h"
#include "impl/table_of_ops.h"

namespace backgauge {
namespace eigen {
namespace {

const Ops& ops_of_this_machine() {
#ifdef BACKGAUGE_EIGEN_X86
  // clang 14 does not know the levels x86-64-v3 and -v4 by name. Every processor with these has the rest of its level.
  const bool level3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool level4 = level3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (level4) return avx512::ops;
  if (level3) return avx2::ops;
#endif
  return baseline::ops;
}

Claims claims_of(backgauge_op op) {
  Claims claims(op);
  claims.accuracy_class = BACKGAUGE_CLASS_B;
  return claims;
}

std::vector<Claims> claims() {
  return {claims_of(BACKGAUGE_LSTM_BLOCK_CELL_GRAD), claims_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2)};
}

using Memory = Workspace<1>;  // none is needed

void execute(const backgauge_call& call, const Extents& extents, Memory& memory) {
  if (memory.counts_only()) return;
  const Ops& ops = ops_of_this_machine();
  const bool half = call.dtype == BACKGAUGE_HALF;
  if (call.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) {
    half ? ops.cell_half(LstmBlockCellGradCall<Half>::bind(call, extents))
         : ops.cell_float(LstmBlockCellGradCall<float>::bind(call, extents));
  } else {
    half ? ops.block_half(BlockLstmGradV2Call<Half>::bind(call, extents))
         : ops.block_float(BlockLstmGradV2Call<float>::bind(call, extents));
  }
}

constexpr TableOps<Memory> kOps{claims, execute};

}  // namespace
}  // namespace eigen

// Declared by registry.cc. Never nullptr.
const backgauge_implementation* eigen_implementation(std::string&) {
  static const backgauge_implementation table =
      Table<eigen::kOps>::make("eigen", "1", "TensorFlow's loops for a CPU, on Eigen; the baseline, on one thread");
  return &table;
}

}  // namespace backgauge
