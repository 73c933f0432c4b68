// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/clusters/rnn.h"
#include "impl/cuda/rnn_trace.h"

namespace backgauge::cuda {
namespace {

template <class C, class S>
struct RnnRecurrence {
  using Storage = S;
  static constexpr int kGates = C::kGates, kKept = C::kKept, kSums = C::kGradients;
  static constexpr bool kBypasses = C::kReadsHPrev;

  struct Values {
    float kept[kKept > 0 ? kKept : 1];
    float h, h_prev, cs_prev, dy, dc;
  };

  RnnClusterTensors<S> t;
  RecurrenceSizes n;

  // A GRU's candidate, the last gate of params, is the first gate gradient.
  BACKGAUGE_BOTH S weight(std::int64_t to, int gate, std::int64_t from) const {
    const int row = kSums > kGates ? (gate + kGates - 1) % kGates : gate;
    return t.R[(row * n.H + from) * n.H + to];
  }

  BACKGAUGE_BOTH float begin(Values& v, const CellPlace& place) const {
    const std::int64_t at = place.row * n.H + place.unit;
    v.h = v.h_prev = v.cs_prev = 0;  // what a mode does not read stays so
    v.dc = C::kHasState ? wide(t.output_c_backprop[at]) : 0;
    return wide(t.output_h_backprop[at]);
  }

  BACKGAUGE_BOTH void fetch(Values& v, const CellPlace& place, std::int64_t step) const {
    const std::int64_t time = time_of(step), before = time_of(step + 1), in_step = place.row * n.H + place.unit;
    const std::int64_t y_at = y_of(place, time);
    const bool last = step + 1 == n.steps;
    BACKGAUGE_UNROLL
    for (int k = 0; k < kKept; ++k) v.kept[k] = value(t.kept, kept_of(place, time, k));
    if constexpr (C::kReadsH) v.h = value(t.y, y_at);
    if constexpr (C::kReadsHPrev) v.h_prev = last ? wide(t.input_h[in_step]) : value(t.y, y_of(place, before));
    if constexpr (C::kHasState) {
      v.cs_prev = last ? wide(t.input_c[in_step]) : value(t.kept, kept_of(place, before, C::kState));
    }
    v.dy = t.output_backprop != nullptr ? wide(t.output_backprop[y_at]) : t.dy[y_at];
  }

  BACKGAUGE_BOTH float backward(Values& v, const CellPlace& place, std::int64_t step, float dh, float (&gates)[kGates],
                                float (&sums)[kSums]) const {
    float gradients[kSums];
    RnnGradient<float> d = {dh + v.dy, v.dc};
    C::template backward<float>(v.kept, {v.h, v.h_prev, v.cs_prev}, d, gradients);
    if constexpr (C::kHasState) v.dc = d.dc;
    const std::int64_t row = time_of(step) * n.B + place.row;
    float input_side = 0;
    BACKGAUGE_UNROLL
    for (int k = 0; k < kSums; ++k) {
      sums[k] += gradients[k];
      if (k < kGates) gates[k] = gradients[k];
      if (k >= kSums - kGates) input_side += gradients[k];
      const float one[1] = {gradients[k]};
      store_operand(one, t.dgates + ((row * kSums + k) * n.H + place.unit));
    }
    if (t.gate_sums != nullptr) t.gate_sums[row * n.H + place.unit] = input_side;
    return d.dh;
  }

  BACKGAUGE_BOTH void end(const Values& v, const CellPlace& place, float dh) const {
    const std::int64_t at = place.row * n.H + place.unit;
    t.input_h_backprop[at] = narrow<S>(dh);
    if constexpr (C::kHasState) t.input_c_backprop[at] = narrow<S>(v.dc);
  }

 private:
  BACKGAUGE_BOTH std::int64_t time_of(std::int64_t step) const { return t.backwards ? step : n.steps - 1 - step; }
  BACKGAUGE_BOTH std::int64_t y_of(const CellPlace& place, std::int64_t time) const {
    return (time * n.B + place.row) * t.y_stride + place.unit;
  }
  BACKGAUGE_BOTH std::int64_t kept_of(const CellPlace& place, std::int64_t time, int k) const {
    return ((time * n.B + place.row) * kKept + k) * n.H + place.unit;
  }
  static BACKGAUGE_BOTH float value(const S* values, std::int64_t k) {
    float to[1];
    load_values(values, k, to);
    return to[0];
  }
};

}  // namespace

template <class S>
ClusterPlan plan_rnn_clusters(std::int32_t rnn_mode, const RecurrenceSizes& sizes, int blocks) {
  ClusterPlan plan;
  with_cell(rnn_mode, [&](auto cell) { plan = plan_clusters<RnnRecurrence<decltype(cell), S>>(sizes, blocks); });
  return plan;
}

template <class S>
void go_back_in_clusters(Queue& queue, std::int32_t rnn_mode, const RecurrenceSizes& sizes, int blocks,
                         const RnnClusterTensors<S>& tensors, float* sums) {
  with_cell(rnn_mode, [&](auto cell) {
    launch_clusters(queue, sizes, blocks, RnnRecurrence<decltype(cell), S>{tensors, sizes}, sums);
  });
}

#define BACKGAUGE_RNN_CLUSTERS_OF(S)                                                                                \
  template ClusterPlan plan_rnn_clusters<S>(std::int32_t, const RecurrenceSizes&, int);                             \
  template void go_back_in_clusters(Queue&, std::int32_t, const RecurrenceSizes&, int, const RnnClusterTensors<S>&, \
                                    float*);
BACKGAUGE_RNN_CLUSTERS_OF(Half)
BACKGAUGE_RNN_CLUSTERS_OF(float)
#undef BACKGAUGE_RNN_CLUSTERS_OF

}  // namespace backgauge::cuda
