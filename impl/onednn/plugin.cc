// SPDX-License-Identifier: Apache-2.0
// The table of the plug-in. oneDNN is loaded only with it. It also exports the phases of BlockLSTMGradV2, which
// its adapters time one by one.
#include "impl/onednn/library.h"
#include "impl/onednn/ops.h"
#include "impl/table_checks.h"

namespace backgauge::onednn {
namespace {

// Returns body(), or throws what guarded() answers with: dnnl::error is a std::exception whose text says what oneDNN
// could not do.
template <class Body>
auto with_status(Body body) {
  try {
    return body();
  } catch (const dnnl::error& e) {
    const bool memory = e.status == dnnl_out_of_memory;
    throw CallError(memory ? BACKGAUGE_OUT_OF_MEMORY : BACKGAUGE_DEVICE_ERROR, std::string("oneDNN: ") + e.what());
  }
}

void execute(const backgauge_call& call, const Extents& extents, Workspace& memory, unsigned phases) {
  switch (call.op) {
    case BACKGAUGE_BLOCK_LSTM_GRAD_V2:
      return block_lstm_grad_v2(BlockLstmGradV2Call<float>::bind(call, extents), memory, phases);
    case BACKGAUGE_CUDNN_RNN: return cudnn_rnn_forward(CudnnRnnCall<float>::bind(call, extents), memory);
    default: cudnn_rnn_backprop(CudnnRnnBackpropCall<float>::bind(call, extents), memory);
  }
}

backgauge_status plan(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                      backgauge_message* message) {
  if (const std::string other = other_library(); !other.empty()) return fail(message, BACKGAUGE_UNSUPPORTED, other);
  return with_status([&] {
    Workspace count;
    execute(call, extents, count, kAllPhases);
    return fill_plan(count, has_reserve_space(call) ? reserve_length(extents, call.attributes, call.num_threads) : 0,
                     plan, message);
  });
}

Claims claims_of(backgauge_op op) {
  Claims claims(op);
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  claims.input_modes = BACKGAUGE_BIT(BACKGAUGE_LINEAR_INPUT);
  claims.determinism = BACKGAUGE_BITWISE_PER_THREAD_COUNT;
  claims.recomputes_co = op == BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  claims.changes_reserve_space = op == BACKGAUGE_CUDNN_RNN_BACKPROP;
  claims.dropout = false;
  return claims;
}

const TableChecks kChecks({claims_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2), claims_of(BACKGAUGE_CUDNN_RNN_BACKPROP)}, plan);

backgauge_status prepare(const backgauge_call* call, backgauge_plan* answer, backgauge_message* message) {
  return kChecks.prepare(call, answer, message);
}

backgauge_status execute_checked(const backgauge_call* call, bool forward, unsigned phases,
                                 backgauge_message* message) {
  return kChecks.run(forward, call, message, [=](const backgauge_call& checked, const Extents& extents) {
    Workspace memory(checked.workspace);
    with_status([&] { execute(checked, extents, memory, phases); });
  });
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  return execute_checked(call, false, kAllPhases, message);
}

backgauge_status forward(const backgauge_call* call, backgauge_message* message) {
  return execute_checked(call, true, kAllPhases, message);
}

}  // namespace
}  // namespace backgauge::onednn

using namespace backgauge::onednn;

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  if (host == nullptr || host->abi != BACKGAUGE_ABI) return nullptr;
  static const backgauge_implementation table = {
      BACKGAUGE_ABI,
      sizeof(backgauge_implementation),
      "onednn",
      library_version().c_str(),
      "oneDNN's RNN primitives, with its reorders of weights",
      BACKGAUGE_HOST,
      kChecks.claims().size(),
      kChecks.claims().data(),
      prepare,
      run,
      forward,
      nullptr,
  };
  return &table;
}

// Some phases (ops.h) of a BlockLSTMGradV2 call, which finds in its workspace what those before them left there.
extern "C" __attribute__((visibility("default"))) backgauge_status backgauge_onednn_phases(const backgauge_call* call,
                                                                                           unsigned phases,
                                                                                           backgauge_message* message) {
  return execute_checked(call, false, phases, message);
}
