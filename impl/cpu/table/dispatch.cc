// SPDX-License-Identifier: Apache-2.0
// The table: choice of op and storage type.
#include <algorithm>
#include <string>

#include "impl/cpu/machine/path.h"
#include "impl/cpu/ops/ops.h"
#include "impl/cpu/ops/rnn_trace.h"
#include "impl/cpu/table/cpu.h"
#include "impl/table_checks.h"

namespace backgauge {
namespace cpu {
namespace {

template <class Storage>
void execute_as(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  switch (call.op) {
    case BACKGAUGE_CUDNN_RNN: return cudnn_rnn_forward(CudnnRnnCall<Storage>::bind(call, extents), workspace);
    case BACKGAUGE_CUDNN_RNN_BACKPROP:
      return cudnn_rnn_backprop(CudnnRnnBackpropCall<Storage>::bind(call, extents), workspace);
    default: break;
  }
  if constexpr (!std::is_same_v<Storage, double> && !std::is_same_v<Storage, Bfloat16>) {
    if (call.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) {
      lstm_block_cell_grad(LstmBlockCellGradCall<Storage>::bind(call, extents), workspace);
    } else {
      block_lstm_grad_v2(BlockLstmGradV2Call<Storage>::bind(call, extents), workspace);
    }
  }
}

void execute(const backgauge_call& call, const Extents& extents, Workspace& workspace) {
  switch (call.dtype) {
    case BACKGAUGE_HALF: return execute_as<Half>(call, extents, workspace);
    case BACKGAUGE_BFLOAT16: return execute_as<Bfloat16>(call, extents, workspace);
    case BACKGAUGE_FLOAT32: return execute_as<float>(call, extents, workspace);
    default: return execute_as<double>(call, extents, workspace);
  }
}

std::int64_t reserve_length_of(const backgauge_call& call, const Extents& extents) {
  if (!has_reserve_space(call)) return 0;
  const RnnSizes sizes = rnn_sizes(extents, call.attributes);
  switch (call.dtype) {
    case BACKGAUGE_HALF: return reserve_length<Half>(sizes);
    case BACKGAUGE_BFLOAT16: return reserve_length<Bfloat16>(sizes);
    case BACKGAUGE_FLOAT32: return reserve_length<float>(sizes);
    default: return reserve_length<double>(sizes);
  }
}

backgauge_status plan(const backgauge_call& call, const Extents& extents, backgauge_plan& needed,
                      backgauge_message* message) {
  Workspace count;
  const std::int64_t length = reserve_length_of(call, extents);
  if (length >= 0) execute(call, extents, count);
  return fill_plan(count, length, needed, message);
}

const TableChecks& checks() {
  static const TableChecks all({Claims(BACKGAUGE_LSTM_BLOCK_CELL_GRAD), Claims(BACKGAUGE_BLOCK_LSTM_GRAD_V2),
                                Claims(BACKGAUGE_CUDNN_RNN_BACKPROP)},
                               plan);
  return all;
}

backgauge_status prepare(const backgauge_call* call, backgauge_plan* needed, backgauge_message* message) {
  return checks().prepare(call, needed, message);
}

void execute_in_its_memory(const backgauge_call& call, const Extents& extents) {
  Workspace workspace(call.workspace);
  execute(call, extents, workspace);
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  return checks().run(false, call, message, execute_in_its_memory);
}

backgauge_status forward(const backgauge_call* call, backgauge_message* message) {
  return checks().run(true, call, message, execute_in_its_memory);
}

// The masks follow the values, as bytes, whatever the storage type.
template <class Storage>
void copy_mask(const backgauge_call& call, const Extents& extents, std::int64_t gap, std::uint8_t* keep) {
  const RnnSizes sizes = rnn_sizes(extents, call.attributes);
  const auto bound = CudnnRnnBackpropCall<Storage>::bind(call, extents);
  Workspace none;
  const RnnTrace<Storage, const std::byte> trace(sizes, reinterpret_cast<const std::byte*>(bound.reserve_space), none);
  if (const std::uint8_t* kept = trace.keep(gap)) {
    std::copy_n(kept, sizes.gap(), keep);
  } else {
    std::fill_n(keep, sizes.gap(), std::uint8_t{1});
  }
}

backgauge_status dropout_mask(const backgauge_call* call, std::int32_t gap, std::uint8_t* keep,
                              backgauge_message* message) {
  return checks().mask(call, gap, keep, message, [=](const backgauge_call& checked, const Extents& extents) {
    switch (checked.dtype) {
      case BACKGAUGE_HALF: return copy_mask<Half>(checked, extents, gap, keep);
      case BACKGAUGE_BFLOAT16: return copy_mask<Bfloat16>(checked, extents, gap, keep);
      case BACKGAUGE_FLOAT32: return copy_mask<float>(checked, extents, gap, keep);
      default: return copy_mask<double>(checked, extents, gap, keep);
    }
  });
}

// The path that this process uses is part of the version, since bits and times depend on it.
const backgauge_implementation& table() {
  static const std::string version = "2 " + std::string(path_word());
  static const backgauge_implementation implementation = {
      BACKGAUGE_ABI,
      sizeof(backgauge_implementation),
      "cpu",
      version.c_str(),
      "hoisted products on packed weights, fused pointwise steps, vectors and threads",
      BACKGAUGE_HOST,
      checks().claims().size(),
      checks().claims().data(),
      prepare,
      run,
      forward,
      dropout_mask,
  };
  return implementation;
}

}  // namespace
}  // namespace cpu

const backgauge_implementation* cpu_implementation(std::string& error) {
  error = cpu::path_refusal();
  return error.empty() ? &cpu::table() : nullptr;
}

}  // namespace backgauge
