// SPDX-License-Identifier: Apache-2.0
// The table of the plug-in: of cudnn, or with BACKGAUGE_CUDNN_BEST that of cudnn-best. cuDNN is loaded only with it.
#include <algorithm>

#include "impl/cudnn/ops.h"
#include "impl/cudnn/settings.h"
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
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_BFLOAT16) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32) |
                  BACKGAUGE_BIT(BACKGAUGE_FLOAT64);
  claims.accuracy_class = BACKGAUGE_CLASS_S;  // semantics.md 5.5, half and bfloat16
  claims.relu_slope_at_zero = true;
  claims.masks_per_direction = true;
  claims.changes_reserve_space = true;
  claim_settings(claims);
  return {claims};
}

void copy_mask(const backgauge_call& call, const Extents& extents, std::int32_t mask, std::uint8_t* keep) {
  const float dropout = call.attributes.dropout;
  if (dropout == 0 || dropout == 1) {
    std::fill_n(keep, mask_elements(extents), std::uint8_t{dropout == 0});
  } else {
    reveal_mask(call, extents, mask, keep);
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

#ifdef BACKGAUGE_CUDNN_BEST
constexpr char kName[] = "cudnn-best";
constexpr char kDescription[] = "the fastest of cuDNN's RNN algorithms for each shape, called or in a graph";
#else
constexpr char kName[] = "cudnn";
constexpr char kDescription[] = "cuDNN's RNN functions on the current CUDA device";
#endif

}  // namespace

#ifdef BACKGAUGE_CUDNN_BEST
const bool kTakesTheFastest = true;
#else
const bool kTakesTheFastest = false;
#endif

}  // namespace backgauge::cudnn

using namespace backgauge::cudnn;

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  if (host == nullptr || host->abi != BACKGAUGE_ABI || !refusal().empty()) return nullptr;
  static const backgauge_implementation table = backgauge::Table<kOps>::make(kName, version().c_str(), kDescription);
  return &table;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return refusal().c_str(); }
