// SPDX-License-Identifier: Apache-2.0
// The table of the plug-in: checks, selects op and storage type, and turns exceptions into a status.
#include <algorithm>
#include <string>

#include "impl/cuda/device/backend.h"
#include "impl/cuda/device/settings.h"
#include "impl/cuda/device_copy.h"
#include "impl/cuda/execute.h"
#include "impl/cuda/rnn_trace.h"
#include "impl/storage.h"
#include "impl/table_of_ops.h"
#include "reference/contract/validate.h"

namespace backgauge::cuda {
namespace {

// The claims for an op with matrix products.
Claims claims_with_products(backgauge_op op) {
  Claims claims(op);
  if (settings().floats == FloatProducts::kTf32) claims.numerical_contract = BACKGAUGE_FP32_TF32;
  if (settings().floats == FloatProducts::kThreeTf32) claims.numerical_contract = BACKGAUGE_FP32_3XTF32;
  if (settings().half_operands) {
    // Gate gradients of steps are stored as operands of products.
    claims.accuracy_class = BACKGAUGE_CLASS_A_PRIME;
    claims.numerical_contract.set(BACKGAUGE_HALF, BACKGAUGE_FP16_ACC32);
  }
  return claims;
}

std::vector<Claims> claims() {
  Claims rnn = claims_with_products(BACKGAUGE_CUDNN_RNN_BACKPROP);
  rnn.relu_slope_at_zero = rnn.masks_per_direction = true;
  return {Claims(BACKGAUGE_LSTM_BLOCK_CELL_GRAD), claims_with_products(BACKGAUGE_BLOCK_LSTM_GRAD_V2), rnn};
}

void copy_mask(const backgauge_call& call, const Extents& extents, std::int32_t mask, std::uint8_t* keep) {
  const RnnSizes sizes = rnn_sizes(extents, call.attributes);
  with_storage(call.dtype, [&](auto storage) {
    using Storage = decltype(storage);
    const RnnTrace<const Storage> trace(sizes, CudnnRnnBackpropCall<Storage>::bind(call, extents).reserve_space);
    if (const std::uint8_t* kept = trace.keep(mask)) {
      read_back(call.stream, keep, kept, sizes.gap());
    } else {
      std::fill_n(keep, sizes.gap(), std::uint8_t{1});
    }
  });
}

constexpr TableOps<Workspace> kOps{claims, execute, reserve_length_of, copy_mask, kMemorySpace};
using DeviceTable = Table<kOps>;

// Whether the call must be run on a copy in device memory.
bool is_from_host(const backgauge_call* call) {
  return kMemorySpace != BACKGAUGE_HOST && call != nullptr && call->memory_space == BACKGAUGE_HOST &&
         validate_shapes(*call).ok();
}

backgauge_status prepare(const backgauge_call* call, backgauge_plan* answer, backgauge_message* message) {
  return guarded(message, [&] {
    if (is_from_host(call)) {
      const DeviceCopy copy(*call, kMemorySpace);
      const backgauge_status status = DeviceTable::checks().prepare(&copy.call(), answer, message);
      if (status != BACKGAUGE_OK) return status;
      answer->workspace_alignment = 1;
      answer->workspace_bytes = 0;
      return BACKGAUGE_OK;
    }
    const backgauge_status status = DeviceTable::checks().prepare(call, answer, message);
    if (status != BACKGAUGE_OK) return status;
    prepare_device();
    prepare_graphs(*call, validate_shapes(*call).extents);
    return BACKGAUGE_OK;
  });
}

// Calls body(call, extents) with a call in memory of the backend.
template <class Body>
backgauge_status with_checks(const backgauge_call* call, bool forward, backgauge_message* message, Body body) {
  return guarded(message, [&] {
    Extents extents;
    if (!is_from_host(call)) {
      const backgauge_status status = DeviceTable::checks().before(forward, call, extents, message);
      return status == BACKGAUGE_OK ? body(*call, extents) : status;
    }
    DeviceCopy copy(*call, kMemorySpace);
    backgauge_plan needed{};
    backgauge_status status = prepare(&copy.call(), &needed, message);
    if (status != BACKGAUGE_OK) return status;
    const Validation validation = validate(*call, needed.reserve_space_length);
    if (!validation.ok()) return fail(message, BACKGAUGE_INVALID_ARGUMENT, validation.refusal);
    copy.fill(needed.workspace_bytes);
    status = DeviceTable::checks().before(forward, &copy.call(), extents, message);
    if (status == BACKGAUGE_OK) status = body(copy.call(), extents);
    if (status == BACKGAUGE_OK) copy.fetch_outputs();
    return status;
  });
}

template <bool kForward>
backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  return with_checks(call, kForward, message, [](const backgauge_call& checked, const Extents& extents) {
    Workspace workspace(checked.workspace);
    execute(checked, extents, workspace);
    workspace.expect_untouched_guards();
    return BACKGAUGE_OK;
  });
}

backgauge_status dropout_mask(const backgauge_call* call, std::int32_t gap, std::uint8_t* keep,
                              backgauge_message* message) {
  return with_checks(call, false, message, [&](const backgauge_call& checked, const Extents& e) {
    const backgauge_status status = DeviceTable::checks().before_mask(checked, e, gap, keep, message);
    if (status == BACKGAUGE_OK) copy_mask(checked, e, gap, keep);
    return status;
  });
}

const std::string& why_not() {
  static const std::string text = settings().refusal.empty() ? refusal() : settings().refusal;
  return text;
}

}  // namespace
}  // namespace backgauge::cuda

using namespace backgauge::cuda;

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  if (host == nullptr || host->abi != BACKGAUGE_ABI || !why_not().empty()) return nullptr;
  static const std::string version = "1 (" + backend_version() + settings_text() + ")";
  static const backgauge_implementation table = [] {
    backgauge_implementation made = DeviceTable::make(kBackend.name, version.c_str(), kBackend.description);
    made.prepare = prepare;
    made.run = run<false>;
    made.forward = run<true>;
    made.dropout_mask = dropout_mask;
    return made;
  }();
  return &table;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return why_not().c_str(); }
