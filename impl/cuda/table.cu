// SPDX-License-Identifier: Apache-2.0
// The table, as a plug-in: checks, choice of op and storage type, and the exceptions that must not leave.
#include <atomic>
#include <string>

#include "impl/cuda/device/backend.h"
#include "impl/cuda/device/error.h"
#include "impl/cuda/ops.h"
#include "impl/table_checks.h"
#include "reference/contract/validate.h"

namespace backgauge::cuda {
namespace {

template <class Body>
backgauge_status guarded_by_status(backgauge_message* message, Body body) noexcept {
  return guarded(message, [&]() -> backgauge_status {
    try {
      return body();
    } catch (const DeviceError& error) {
      return fail(message, error.status(), error.what());
    }
  });
}

template <class Storage>
void execute_as(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  if (call.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) {
    lstm_block_cell_grad(LstmBlockCellGradCall<Storage>::bind(call, extents), workspace, call.stream);
  } else {
    block_lstm_grad_v2(BlockLstmGradV2Call<Storage>::bind(call, extents), workspace, call.stream);
  }
}

void execute(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  switch (call.dtype) {
    case BACKGAUGE_HALF: return execute_as<Half>(call, extents, workspace);
    default: return execute_as<float>(call, extents, workspace);
  }
}

backgauge_status plan(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                      backgauge_message* message) {
  Workspace count;
  execute(call, extents, count);
  if (!count.countable()) return fail(message, BACKGAUGE_OUT_OF_MEMORY, "needs more than 2^60 bytes");
  plan.workspace_alignment = Workspace::kAlignment;
  plan.workspace_bytes = count.bytes();
  return BACKGAUGE_OK;
}

backgauge_op_claims claims_of(backgauge_op op) {
  backgauge_op_claims claims{};
  claims.op = op;
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  claims.use_peephole = BACKGAUGE_BIT(0) | BACKGAUGE_BIT(1);
  // Of several steps: gate gradients are kept as the operands of products that they are.
  const bool products = op != BACKGAUGE_LSTM_BLOCK_CELL_GRAD;
  claims.half_class = products ? BACKGAUGE_CLASS_A_PRIME : BACKGAUGE_CLASS_A;
  claims.numerical_contract = BACKGAUGE_FP32_STRICT;
  claims.half_contract = products ? BACKGAUGE_FP16_ACC32 : 0;
  claims.determinism = BACKGAUGE_BITWISE;
  return claims;
}

const backgauge_op_claims kClaims[] = {claims_of(BACKGAUGE_LSTM_BLOCK_CELL_GRAD),
                                       claims_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2)};
const TableChecks kChecks = {kClaims, plan, kBackend.memory_space};

backgauge_status prepare(const backgauge_call* call, backgauge_plan* answer, backgauge_message* message) {
  return guarded_by_status(message, [&] {
    const backgauge_status status = kChecks.prepare(call, answer, message);
    if (status != BACKGAUGE_OK) return status;
    prepare_device();
    if (call->op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) {
      const Extents extents = validate_shapes(*call).extents;
      call->dtype == BACKGAUGE_HALF ? prepare_block_lstm_grad_v2<Half>(extents)
                                    : prepare_block_lstm_grad_v2<float>(extents);
    }
    return BACKGAUGE_OK;
  });
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  return guarded_by_status(message, [&] {
    Extents extents;
    const backgauge_status status = kChecks.before(false, call, extents, message);
    if (status != BACKGAUGE_OK) return status;
    Workspace workspace(call->workspace);
    execute(*call, extents, workspace);
    workspace.expect_untouched_guards();
    return BACKGAUGE_OK;
  });
}

const std::string& why_not() {
  static const std::string text = refusal();
  return text;
}

}  // namespace
}  // namespace backgauge::cuda

using namespace backgauge::cuda;

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  if (host == nullptr || host->abi != BACKGAUGE_ABI || !why_not().empty()) return nullptr;
  static const std::string version = "1 (" + backend_version() + ")";
  static const backgauge_implementation table = {
      BACKGAUGE_ABI,
      sizeof(backgauge_implementation),
      kBackend.name,
      version.c_str(),
      kBackend.description,
      kBackend.memory_space,
      std::size(kClaims),
      kClaims,
      prepare,
      run,
      nullptr,
      nullptr,
  };
  return &table;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return why_not().c_str(); }
