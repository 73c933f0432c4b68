// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/clusters/lstm.h"

namespace backgauge::cuda {
namespace {

template <class S, bool kPeephole>
struct LstmRecurrence {
  using Storage = S;
  static constexpr int kGates = 4, kSums = cell_sums(true, kPeephole);
  static constexpr bool kBypasses = false;

  struct Values {
    float cs_prev, cs, i, f, o, ci, co, cs_grad, h_grad;
    PeepholeWeights<float> weights;
    float dcs;
  };

  LstmTensors<S> t;
  RecurrenceSizes n;

  BACKGAUGE_BOTH S weight(std::int64_t to, int gate, std::int64_t from) const {
    return t.w_h[(to * 4 + gate) * n.H + from];
  }

  BACKGAUGE_BOTH float begin(Values& v, const CellPlace& place) const {
    if constexpr (kPeephole) v.weights = {wide(t.wci[place.unit]), wide(t.wcf[place.unit]), wide(t.wco[place.unit])};
    v.dcs = 0;
    return 0;
  }

  BACKGAUGE_BOTH void fetch(Values& v, const CellPlace& place, std::int64_t step) const {
    const std::int64_t time = n.steps - 1 - step, elements = n.B * n.H;
    const std::int64_t in_step = place.row * n.H + place.unit, at = time * elements + in_step;
    v.cs_prev = wide(time == 0 ? t.cs_prev[in_step] : t.cs[at - elements]);
    if constexpr (kPeephole) v.cs = wide(t.cs[at]);
    v.i = wide(t.i[at]);
    v.f = wide(t.f[at]);
    v.o = wide(t.o[at]);
    v.ci = wide(t.ci[at]);
    v.co = wide(t.co[at]);
    v.cs_grad = wide(t.cs_grad[at]);
    v.h_grad = wide(t.h_grad[at]);
  }

  BACKGAUGE_BOTH float backward(Values& v, const CellPlace& place, std::int64_t step, float dh, float (&gates)[kGates],
                                float (&sums)[kSums]) const {
    const CellGradients<float> d = cell_gradients<kPeephole, float>(
        {v.cs_prev, v.i, v.f, v.o, v.ci, v.co, v.cs_grad + v.dcs, v.h_grad + dh}, v.weights);
    v.dcs = d.cs_prev;
    float terms[kSums];
    cell_sum_terms<true, kPeephole>(d, v.cs_prev, v.cs, terms);
    BACKGAUGE_UNROLL
    for (int sum = 0; sum < kSums; ++sum) sums[sum] += terms[sum];
    gates[0] = d.i;
    gates[1] = d.f;
    gates[2] = d.ci;
    gates[3] = d.o;
    const std::int64_t row = (n.steps - 1 - step) * n.B + place.row;
    BACKGAUGE_UNROLL
    for (int gate = 0; gate < kGates; ++gate) {
      const float one[1] = {gates[gate]};
      store_operand(one, t.dgates + ((row * 4 + gate) * n.H + place.unit));
    }
    return 0;
  }

  BACKGAUGE_BOTH void end(const Values& v, const CellPlace& place, float dh) const {
    const std::int64_t at = place.row * n.H + place.unit;
    t.h_prev_grad[at] = narrow<S>(dh);
    t.cs_prev_grad[at] = narrow<S>(v.dcs);
  }
};

}  // namespace

template <class S>
ClusterPlan plan_lstm_clusters(const RecurrenceSizes& sizes, bool peephole, int blocks) {
  return peephole ? plan_clusters<LstmRecurrence<S, true>>(sizes, blocks)
                  : plan_clusters<LstmRecurrence<S, false>>(sizes, blocks);
}

template <class S>
void go_back_in_clusters(Queue& queue, const RecurrenceSizes& sizes, bool peephole, int blocks,
                         const LstmTensors<S>& tensors, float* sums) {
  peephole ? launch_clusters(queue, sizes, blocks, LstmRecurrence<S, true>{tensors, sizes}, sums)
           : launch_clusters(queue, sizes, blocks, LstmRecurrence<S, false>{tensors, sizes}, sums);
}

#define BACKGAUGE_LSTM_CLUSTERS_OF(S)                                            \
  template ClusterPlan plan_lstm_clusters<S>(const RecurrenceSizes&, bool, int); \
  template void go_back_in_clusters(Queue&, const RecurrenceSizes&, bool, int, const LstmTensors<S>&, float*);
BACKGAUGE_LSTM_CLUSTERS_OF(Half)
BACKGAUGE_LSTM_CLUSTERS_OF(float)
#undef BACKGAUGE_LSTM_CLUSTERS_OF

}  // namespace backgauge::cuda
