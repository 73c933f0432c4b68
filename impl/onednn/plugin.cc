// SPDX-License-Identifier: Apache-2.0
// The table of the plug-in. oneDNN is loaded only with it. It also exports the phases of BlockLSTMGradV2, which
// its adapters time one by one.
#include "impl/onednn/library.h"
#include "impl/onednn/ops.h"
#include "impl/table_of_ops.h"

namespace backgauge::onednn {
namespace {

// Returns body(). Throws CallError for what oneDNN cannot do.
template <class Body>
auto with_onednn(Body body) {
  if (const std::string other = other_library(); !other.empty()) throw CallError(BACKGAUGE_UNSUPPORTED, other);
  try {
    return body();
  } catch (const dnnl::error& e) {
    const bool memory = e.status == dnnl_out_of_memory;
    throw CallError(memory ? BACKGAUGE_OUT_OF_MEMORY : BACKGAUGE_DEVICE_ERROR, std::string("oneDNN: ") + e.what());
  }
}

void execute_phases(const backgauge_call& call, const Extents& extents, Workspace& memory, unsigned phases) {
  with_onednn([&] {
    switch (call.op) {
      case BACKGAUGE_BLOCK_LSTM_GRAD_V2:
        return block_lstm_grad_v2(BlockLstmGradV2Call<float>::bind(call, extents), memory, phases);
      case BACKGAUGE_CUDNN_RNN: return cudnn_rnn_forward(CudnnRnnCall<float>::bind(call, extents), memory);
      default: return cudnn_rnn_backprop(CudnnRnnBackpropCall<float>::bind(call, extents), memory);
    }
  });
}

void execute(const backgauge_call& call, const Extents& extents, Workspace& memory) {
  execute_phases(call, extents, memory, kAllPhases);
}

std::int64_t reserve_length_of(const backgauge_call& call, const Extents& extents) {
  return with_onednn([&] { return reserve_length(extents, call.attributes, call.num_threads); });
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

std::vector<Claims> claims() {
  return {claims_of(BACKGAUGE_BLOCK_LSTM_GRAD_V2), claims_of(BACKGAUGE_CUDNN_RNN_BACKPROP)};
}

constexpr TableOps<Workspace> kOps{claims, execute, reserve_length_of};
using PluginTable = Table<kOps>;

}  // namespace
}  // namespace backgauge::onednn

using namespace backgauge::onednn;

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  if (host == nullptr || host->abi != BACKGAUGE_ABI) return nullptr;
  static const backgauge_implementation table =
      PluginTable::make("onednn", library_version().c_str(), "oneDNN's RNN primitives, with its reorders of weights");
  return &table;
}

// Some phases (ops.h) of a BlockLSTMGradV2 call, which finds in its workspace what those before them left there.
extern "C" __attribute__((visibility("default"))) backgauge_status backgauge_onednn_phases(const backgauge_call* call,
                                                                                           unsigned phases,
                                                                                           backgauge_message* message) {
  return PluginTable::checks().run(false, call, message, [=](const auto& checked, const auto& extents) {
    Workspace memory(checked.workspace);
    execute_phases(checked, extents, memory, phases);
  });
}
