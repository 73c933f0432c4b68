// SPDX-License-Identifier: Apache-2.0
// BlockLSTMGradV2. oneDNN's backward takes a gradient of cs at the last step only. So where cs_grad is zero before
// that, as it is in training, one primitive goes over all steps; otherwise one for a single step goes over each.
#include <algorithm>

#include "impl/onednn/kept.h"
#include "impl/onednn/ops.h"
#include "impl/onednn/workspace_layout.h"

namespace backgauge::onednn {
namespace {

struct Plan {
  explicit Plan(const LayerShape& shape)
      : layer(shape),
        layout(find_workspace_layout(layer)),
        input_in(layer.weights_in(Pass::kBackward, Side::kInput, strides(shape), kGates)),
        recurrent_in(layer.weights_in(Pass::kBackward, Side::kRecurrent, strides(shape), kGates)),
        input_out(layer.gradients_out(Side::kInput, strides(shape), kGates)),
        recurrent_out(layer.gradients_out(Side::kRecurrent, strides(shape), kGates)) {}

  std::size_t bytes(int argument) const { return layer.bytes(Pass::kBackward, argument); }

  Layer layer;
  WorkspaceLayout layout;
  WeightCopy input_in, recurrent_in, input_out, recurrent_out;

 private:
  static constexpr GateRange kGates{0, 4};
  static WeightStrides strides(const LayerShape& s) { return {(s.I + s.H) * 4 * s.H, 4 * s.H, s.H, 1}; }
};

class BlockLstmGrad {
 public:
  BlockLstmGrad(const BlockLstmGradV2Call<float>& call, Workspace& memory)
      : c(call),
        sequence_(kept<Plan>(shape(c.S))),
        step_(kept<Plan>(shape(1))),
        input_(take(memory, DNNL_ARG_WEIGHTS_LAYER)),
        recurrent_(take(memory, DNNL_ARG_WEIGHTS_ITER)),
        input_grad_(take(memory, DNNL_ARG_DIFF_WEIGHTS_LAYER)),
        recurrent_grad_(take(memory, DNNL_ARG_DIFF_WEIGHTS_ITER)),
        workspace_(take(memory, DNNL_ARG_WORKSPACE)),
        scratchpad_(take(memory, DNNL_ARG_SCRATCHPAD)),
        bias_(memory.take<float>({4 * c.H})),
        peephole_(memory.take<float>({3 * c.H})),
        peephole_grad_(memory.take<float>({3 * c.H})),
        no_grad_(memory.take<float>({c.B * c.H})),
        dcs_(memory.take<float>({c.B * c.H})),
        no_inputs_(c.I == 0 ? memory.take<float>({c.S * c.B}) : nullptr),
        no_inputs_grad_(c.I == 0 ? memory.take<float>({c.S * c.B}) : nullptr) {}

  void run(unsigned phases) {
    const bool whole = only_last_step_has_cs_grad();
    const Plan& plan = whole ? *sequence_ : *step_;
    if (phases & kFill) {
      if (c.I == 0) std::fill_n(no_inputs_, c.S * c.B, 0.0f);
      if (whole) fill(plan, 0);
    }
    if (phases & kLoadWeights) load_weights(plan);
    if (phases & kCompute) {
      if (whole) {
        execute(plan, 0, no_grad_, c.cs_grad + (c.S - 1) * c.B * c.H);
      } else {
        step_by_step(plan);
      }
    }
    if (phases & kStore) store(plan);
  }

 private:
  // oneDNN has no layer without inputs: it gets one input that is 0.
  LayerShape shape(std::int64_t steps) const {
    return {BACKGAUGE_LSTM, steps, c.B, std::max<std::int64_t>(c.I, 1), c.H, 1, c.peephole, c.num_threads};
  }

  void* take(Workspace& memory, int argument) const {
    return memory.take_bytes(std::max(sequence_->bytes(argument), step_->bytes(argument)));
  }

  bool only_last_step_has_cs_grad() const {
    return std::all_of(c.cs_grad, c.cs_grad + (c.S - 1) * c.B * c.H, [](float value) { return value == 0; });
  }

  const float* x(std::int64_t t) const { return c.I == 0 ? no_inputs_ : c.x + t * c.B * c.I; }
  const float* h_before(std::int64_t t) const { return t == 0 ? c.h_prev : c.h + (t - 1) * c.B * c.H; }
  const float* cs_before(std::int64_t t) const { return t == 0 ? c.cs_prev : c.cs + (t - 1) * c.B * c.H; }

  // The steps of the plan, from step t on.
  void fill(const Plan& plan, std::int64_t t) const {
    const std::int64_t at = t * c.B * c.H;
    plan.layout.fill(static_cast<float*>(workspace_),
                     {x(t), h_before(t), cs_before(t), {c.i + at, c.f + at, c.ci + at, c.o + at}, c.h + at, c.cs + at});
  }

  void load_weights(const Plan& plan) const {
    const std::int64_t H = c.H;
    if (c.I > 0) {
      plan.input_in(c.w, input_);
    } else {
      std::fill_n(static_cast<std::byte*>(input_), plan.bytes(DNNL_ARG_WEIGHTS_LAYER), std::byte{0});
    }
    plan.recurrent_in(c.w + c.I * 4 * H, recurrent_);
    if (c.peephole) {
      std::copy_n(c.wci, H, peephole_);
      std::copy_n(c.wcf, H, peephole_ + H);
      std::copy_n(c.wco, H, peephole_ + 2 * H);
    }
    std::fill_n(bias_, 4 * H, 0.0f);
    std::fill_n(no_grad_, c.B * H, 0.0f);
    std::fill_n(static_cast<std::byte*>(input_grad_), plan.bytes(DNNL_ARG_DIFF_WEIGHTS_LAYER), std::byte{0});
    std::fill_n(static_cast<std::byte*>(recurrent_grad_), plan.bytes(DNNL_ARG_DIFF_WEIGHTS_ITER), std::byte{0});
    std::fill_n(peephole_grad_, 3 * H, 0.0f);
    std::fill_n(c.b_grad, 4 * H, 0.0f);
  }

  // Runs the steps of the plan, from step t on; dh and dcs are the gradients carried from later steps.
  void execute(const Plan& plan, std::int64_t t, const float* dh, const float* dcs) const {
    const std::int64_t at = t * c.B * c.H, last = at + (plan.layer.shape.T - 1) * c.B * c.H;
    Arguments arguments = {{DNNL_ARG_SRC_LAYER, x(t)},
                           {DNNL_ARG_SRC_ITER, h_before(t)},
                           {DNNL_ARG_SRC_ITER_C, cs_before(t)},
                           {DNNL_ARG_WEIGHTS_LAYER, input_},
                           {DNNL_ARG_WEIGHTS_ITER, recurrent_},
                           {DNNL_ARG_BIAS, bias_},
                           {DNNL_ARG_DST_LAYER, c.h + at},
                           {DNNL_ARG_DST_ITER, c.h + last},
                           {DNNL_ARG_DST_ITER_C, c.cs + last},
                           {DNNL_ARG_WORKSPACE, workspace_},
                           {DNNL_ARG_SCRATCHPAD, scratchpad_},
                           {DNNL_ARG_DIFF_DST_LAYER, c.h_grad + at},
                           {DNNL_ARG_DIFF_DST_ITER, dh},
                           {DNNL_ARG_DIFF_DST_ITER_C, dcs},
                           {DNNL_ARG_DIFF_SRC_LAYER, c.I == 0 ? no_inputs_grad_ : c.x_grad + t * c.B * c.I},
                           {DNNL_ARG_DIFF_SRC_ITER, c.h_prev_grad},
                           {DNNL_ARG_DIFF_SRC_ITER_C, c.cs_prev_grad},
                           {DNNL_ARG_DIFF_WEIGHTS_LAYER, input_grad_},
                           {DNNL_ARG_DIFF_WEIGHTS_ITER, recurrent_grad_},
                           {DNNL_ARG_DIFF_BIAS, c.b_grad}};
    if (c.peephole) {
      arguments.emplace(DNNL_ARG_WEIGHTS_PEEPHOLE, peephole_);
      arguments.emplace(DNNL_ARG_DIFF_WEIGHTS_PEEPHOLE, peephole_grad_);
    }
    plan.layer.execute(Pass::kBackward, arguments);
  }

  void step_by_step(const Plan& plan) {
    const std::int64_t size = c.B * c.H;
    float* dh = no_grad_;
    std::fill_n(dh, size, 0.0f);
    std::fill_n(c.cs_prev_grad, size, 0.0f);
    for (std::int64_t t = c.S - 1; t >= 0; --t) {
      const float* arrived = c.cs_grad + t * size;
      for (std::int64_t k = 0; k < size; ++k) dcs_[k] = c.cs_prev_grad[k] + arrived[k];
      fill(plan, t);
      execute(plan, t, dh, dcs_);
      std::copy_n(c.h_prev_grad, size, dh);
    }
  }

  void store(const Plan& plan) const {
    const std::int64_t H = c.H;
    if (c.I > 0) plan.input_out(input_grad_, c.w_grad);
    plan.recurrent_out(recurrent_grad_, c.w_grad + c.I * 4 * H);
    std::copy_n(peephole_grad_, H, c.wci_grad);
    std::copy_n(peephole_grad_ + H, H, c.wcf_grad);
    std::copy_n(peephole_grad_ + 2 * H, H, c.wco_grad);
    std::fill(c.x_grad + c.S * c.B * c.I, c.x_grad + c.T * c.B * c.I, 0.0f);
  }

  const BlockLstmGradV2Call<float>& c;
  std::shared_ptr<const Plan> sequence_, step_;
  void *input_, *recurrent_, *input_grad_, *recurrent_grad_, *workspace_, *scratchpad_;
  float *bias_, *peephole_, *peephole_grad_, *no_grad_, *dcs_;
  float *no_inputs_, *no_inputs_grad_;  // [S, B, 1]
};

void clear_outputs(const BlockLstmGradV2Call<float>& c) {
  std::fill_n(c.x_grad, c.T * c.B * c.I, 0.0f);
  std::fill_n(c.cs_prev_grad, c.B * c.H, 0.0f);
  std::fill_n(c.h_prev_grad, c.B * c.H, 0.0f);
  std::fill_n(c.w_grad, (c.I + c.H) * 4 * c.H, 0.0f);
  for (float* sum : {c.wci_grad, c.wcf_grad, c.wco_grad}) std::fill_n(sum, c.H, 0.0f);
  std::fill_n(c.b_grad, 4 * c.H, 0.0f);
}

}  // namespace

void block_lstm_grad_v2(const BlockLstmGradV2Call<float>& call, Workspace& memory, unsigned phases) {
  if (call.S == 0 || call.B == 0) {  // oneDNN does not support empty sequences
    if (!memory.counts_only()) clear_outputs(call);
    return;
  }
  const ThreadScope threads(call.num_threads);
  BlockLstmGrad op(call, memory);
  if (!memory.counts_only()) op.run(phases);
}

}  // namespace backgauge::onednn
