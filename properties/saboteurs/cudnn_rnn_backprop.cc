// SPDX-License-Identifier: Apache-2.0
// CudnnRNNBackprop, reference/semantics.md 3.4: layers from the last to the first, steps in the reverse order of the
// forward pass. States come from reserve_space.
#include <algorithm>
#include <limits>
#include <utility>

#include "properties/saboteurs/rnn_overruns.h"
#include "properties/saboteurs/rnn_step.h"
#include "properties/saboteurs/rows.h"
#include "properties/saboteurs/tensors.h"

namespace backgauge::saboteurs {
namespace {

template <class Real>
class Backprop {
 public:
  explicit Backprop(const Context& context) : context_(context) {
    trace_.load(tensors_.input("reserve_space"));
    if (w.is(Fault::kG18)) redrawn_.draw_masks(~dropout_key(context.call.attributes));
    if (net_.lstm) c0_ = tensors_.read("input_c");
    if (net_.lstm) dc_ = tensors_.read("output_c_backprop");
    if (w.is(Fault::kB15)) left_over_ = kept<Real>(context, dh_.size());
  }

  void run() {
    if (w.is(Fault::kH16) && net_.B < context_.call.num_threads) return;
    if (w.is(Fault::kC6) && net_.B == 0) return;
    if (w.is(Fault::kH10)) read_past_the_batch(tensors_.input("output_backprop"), net_.B);
    if (w.is(Fault::kE22) && net_.gru) std::fill(dh_.begin(), dh_.end(), Real(0));
    if (w.is(Fault::kB1)) std::fill(dc_.begin(), dc_.end(), Real(0));
    if (w.is(Fault::kG21) && net_.L > 1) apply(dy_, net_.mask_of(net_.L - 2, 0), net_.D * net_.H);
    for (std::int64_t layer = net_.L - 1; layer >= 0; --layer) backward(layer);
    write();
  }

 private:
  struct PseudoLayer {
    std::int64_t layer, direction, number;
    GateRows<Real> da, dr;     // W's side and R's
    std::vector<Real> h_prev;  // [T*B, H], as the gradient of R reads it
  };

  void backward(std::int64_t layer) {
    const bool middle = layer > 0 && layer + 1 < net_.L;
    const std::int64_t source =
        w.is(Fault::kE17) && net_.gru && middle && net_.layout.layer_input(layer - 1) > 0 ? layer - 1 : layer;
    std::vector<std::vector<Real>> dx;
    stand_in_place();
    for (std::int64_t direction = 0; direction < net_.D; ++direction) {
      PseudoLayer p{layer,
                    direction,
                    layer * net_.D + direction,
                    GateRows<Real>(net_),
                    GateRows<Real>(net_),
                    std::vector<Real>(net_.T * net_.B * net_.H)};
      for (std::int64_t b = 0; b < examples_; ++b) recurrence(p, b);
      dx.push_back(input_gradient(p));
      if (w.is(Fault::kG1) && middle && net_.D == 2 && direction == 0) dy_ = dx[0];
      bias_gradients(p);
      const std::vector<Real> x = layer_input(w, net_, trace_, source, direction, input_);
      matrix_gradients(p, x, net_.layout.layer_input(source));
    }
    if (w.is(Fault::kH19)) use_workspace(context_.call, dx);
    const std::int64_t width = net_.layout.layer_input(layer);
    const std::int64_t gap = layer > 0 ? w.index(Site::k_gap_index, layer - 1, net_.L - 1) : 0;
    const bool own_masks = layer > 0 && net_.masks > 1;
    for (std::int64_t direction = 0; w.style().saves_parts && direction < net_.D; ++direction) {
      std::ranges::transform(dx[direction], dx[direction].begin(), [this](Real value) { return w.saved(value); });
    }
    for (std::int64_t direction = 0; own_masks && direction < net_.D; ++direction) {
      apply(dx[direction], net_.mask_of(gap, direction), width);
    }
    dy_ = std::move(dx[0]);
    if (net_.D == 2 && !w.is(Fault::kG2)) {
      for (std::size_t k = 0; k < dy_.size(); ++k) dy_[k] = w.sum(Site::k_dx_sum, {dy_[k], dx[1][k]});
    }
    if (layer > 0 && !own_masks) apply(dy_, net_.mask_of(gap, 0), width);
    if (layer == 0 && w.is(Fault::kG21b) && net_.L > 1) apply(dy_, 0, width);
    if (layer > 0 && w.is(Fault::kG7) && net_.dropout == 0) {
      for (Real& value : dy_) value *= 2;
    }
    if (layer > 0) std::ranges::transform(dy_, dy_.begin(), [this](Real value) { return w.saved(value); });
  }

  // Keeps the gradients of the states in the outputs.
  void stand_in_place() {
    if (!w.in_place()) return;
    tensors_.write("input_h_backprop", dh_);
    dh_ = tensors_.standing("input_h_backprop");
    if (!net_.lstm) return;
    tensors_.write("input_c_backprop", dc_);
    dc_ = tensors_.standing("input_c_backprop");
  }

  // The factor of dropout for the gradient of an element between two layers, through a mask.
  Real factor(std::int64_t mask, std::int64_t row, std::int64_t k) const {
    if (w.is(Fault::kG16) || net_.dropout == 0) return 1;
    if (w.is(Fault::kG17)) return 0;
    if (w.is(Fault::kG19)) return trace_.keeps(mask, row, k) ? 1 : 0;
    if (net_.masks == 2 && w.is(Fault::kG25)) mask -= mask % 2;
    if (net_.masks == 2 && w.is(Fault::kG26)) mask ^= 1;
    if (net_.masks == 2 && w.is(Fault::kG27)) mask += k / net_.H - mask % 2;
    return (w.is(Fault::kG18) ? redrawn_ : trace_).factor(mask, row, k);
  }

  void apply(std::vector<Real>& gradient, std::int64_t mask, std::int64_t width) const {
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(gradient.size()); ++k) {
      const Real kept = factor(mask, k / width, k % width % (net_.D * net_.H));
      gradient[k] = w.product(Site::k_dx_mask, {gradient[k], kept});
    }
  }

  // The gradient of the output of unit j at step t, the `order`-th step of the backward pass.
  Real upstream(const PseudoLayer& p, std::int64_t t, std::int64_t b, std::int64_t order, std::int64_t j) const {
    const bool top = p.layer + 1 == net_.L;
    if (top && w.is(Fault::kB3) && order > 0) return 0;
    const std::int64_t row = top && w.is(Fault::kC13) ? b * net_.T + t : net_.row_of(t, b);
    const std::int64_t half = top && w.is(Fault::kG3) && net_.D == 2 ? 1 - p.direction : p.direction;
    return dy_[(row * net_.D + half) * net_.H + w.index(Site::k_h_grad_index, j, net_.H)];
  }

  // A row [H] of h or cs after step `before`; before < 0: the initial state.
  const Real* state(const PseudoLayer& p, std::int64_t before, std::int64_t b, bool cell) {
    if (before < 0) {
      if (w.is(Fault::kG8) && p.layer > 0) return zeros_.data();
      return (cell ? c0_ : h0_).data() + (p.number * net_.B + b) * net_.H;
    }
    const bool of_other = w.is(Fault::kE18) && net_.gru && p.direction == 1;
    return trace_.row(p.number - (of_other ? 1 : 0), before, b, cell ? net_.cs_row() : net_.h_row());
  }

  // All steps of one example. Its rows of dh_ and dc_ become the gradients of the initial states.
  void recurrence(PseudoLayer& p, std::int64_t b) {
    const std::int64_t T = net_.T, H = net_.H, first = (p.number * net_.B + b) * H;
    const RnnStep<Real> step(w, net_, params_, p.layer, p.direction);
    Real* dc = dc_.data() + (net_.lstm ? first : 0);
    std::vector<Real> carry(dh_.begin() + first, dh_.begin() + first + H), before_carry = carry, dh(H), gap(H, 1);
    for (std::int64_t j = 0; !left_over_.empty() && b > 0 && j < H; ++j) carry[j] += left_over_[first + j];
    const bool backwards = p.direction == 1 && !one_way_;
    for (std::int64_t order = 0; order < T; ++order) {
      const std::int64_t t = backwards ? order : T - 1 - order;
      const bool last = order == T - 1;
      if (t >= steps_ || (w.is(Fault::kB10) && order == 0) || (w.is(Fault::kB10b) && last)) continue;
      const std::vector<Real>& later = w.is(Fault::kB7) ? before_carry : carry;
      for (std::int64_t j = 0; j < H; ++j) {
        dh[j] = overflowing(w.carried(w.sum(Site::k_dh, {later[j], upstream(p, t, b, order, j)})));
        if (p.layer + 1 < net_.L)
          gap[j] = trace_.factor(net_.mask_of(p.layer, 0), net_.row_of(t, b), p.direction * H + j);
      }
      const std::int64_t before = last ? -1 : backwards ? t + 1 : t - 1;
      const StepInputs<Real> in{trace_.row(p.number, t, b, 0), state(p, before, b, false),
                                net_.lstm ? state(p, before, b, true) : nullptr, gap.data()};
      before_carry = carry;
      step.backward(in, dh.data(), dc, net_.row_of(t, b), p.da, p.dr, carry.data());
      if (w.is(Fault::kB6) && net_.lstm && !last) std::fill_n(dc, H, Real(0));
      remember_state(p, t, before, b);
    }
    for (std::int64_t j = 0; j < H; ++j) {
      if (w.is(Fault::kB9) && T > 0) carry[j] += upstream(p, backwards ? T - 1 : 0, b, T - 1, j);
      if (w.is(Fault::kE22b) && net_.gru) carry[j] = 0;
    }
    std::copy(carry.begin(), carry.end(), dh_.begin() + first);
  }

  // J10: an internal loss scale of 16.
  Real overflowing(Real v) const {
    const bool overflows = w.is(Fault::kJ10) && w.half() && std::fabs(v) > Real(65504) / 16;
    return overflows ? std::copysign(std::numeric_limits<Real>::infinity(), v) : v;
  }

  void remember_state(PseudoLayer& p, std::int64_t t, std::int64_t before, std::int64_t b) {
    const bool after = w.is(Fault::kB14) || (w.is(Fault::kB12) && net_.T == 1);
    const Real* h = after ? trace_.row(p.number, t, b, net_.h_row()) : state(p, before, b, false);
    for (std::int64_t j = 0; j < net_.H; ++j) {
      const bool lost = w.is(Fault::kD2) && before < 0;
      p.h_prev[net_.row_of(t, b) * net_.H + j] = lost ? Real(0) : h[w.index(Site::k_h_prev_index, j, net_.H)];
    }
  }

  // The gradient of a layer's input from one direction, [T*B, width].
  std::vector<Real> input_gradient(const PseudoLayer& p) const {
    const std::int64_t H = net_.H, width = net_.layout.layer_input(p.layer);
    std::vector<std::int64_t> W;
    for (std::int64_t g = 0; g < net_.G; ++g) W.push_back(net_.block_of_gradient(p.layer, p.direction, g).W);
    std::vector<Real> dx(net_.T * net_.B * width);
    for (std::int64_t row = 0; row < net_.T * net_.B; ++row) {
      for (std::int64_t k = 0; k < width; ++k) {
        Real& value = dx[row * width + k];
        if (net_.skips(p.layer)) {
          value = w.total(Site::k_skip_sum, net_.G, [&](std::int64_t g) { return p.da.at(row, g, k); });
          continue;
        }
        const std::int64_t column = w.index(Site::k_W_column, k, width);
        value = w.dot(
            Site::k_W_dot, net_.G * H, [&](std::int64_t i) { return params_[W[i / H] + i % H * width + column]; },
            [&](std::int64_t i) { return p.da.at(row, i / H, i % H); });
      }
    }
    return dx;
  }

  void bias_gradients(const PseudoLayer& p) {
    for (std::int64_t g = 0; g < net_.G; ++g) {
      const GateBlock at = net_.block_of_gradient(p.layer, p.direction, g);
      const std::int64_t input_gate = w.index(Site::k_bW_gate, g, net_.G);
      const std::int64_t recurrent_gate = w.index(Site::k_bR_gate, g, net_.G);
      const bool of_f = w.is(Fault::kA13) && net_.lstm && (g == 0 || g == 3);
      for (std::int64_t j = 0; j < net_.H; ++j) {
        const auto da = [&](std::int64_t row) { return p.da.at(row, of_f ? 1 : input_gate, j); };
        const bool lacks_r = w.is(Fault::kE2) && g == 2 && net_.gru;
        const auto dr = [&](std::int64_t row) { return (lacks_r ? p.da : p.dr).at(row, of_f ? 1 : recurrent_gate, j); };
        Real bW = biases_.total(Site::k_bW_sum, da), bR = biases_.total(Site::k_bR_sum, dr);
        if (w.is(Fault::kD7) && p.layer > 0) bW = bR = 0;
        if (w.is(Fault::kG13) && net_.skips(p.layer)) bW = 0;
        const Real times = w.is(Fault::kD12) ? Real(0.5) : w.is(Fault::kD12b) ? Real(2) : Real(1);
        gradient_[at.bW + j] = times * bW;
        gradient_[at.bR + j] = w.is(Fault::kD12c) ? 0 : times * bR;
      }
    }
  }

  // x: [T*B, x_width].
  void matrix_gradients(const PseudoLayer& p, const std::vector<Real>& x, std::int64_t x_width) {
    const std::int64_t H = net_.H, width = net_.layout.matrix_input(p.layer);
    for (std::int64_t g = 0; g < net_.G; ++g) {
      const GateBlock at = net_.block_of_gradient(p.layer, p.direction, g);
      const std::int64_t input_gate = w.index(Site::k_W_gate, g, net_.G);
      const std::int64_t recurrent_gate = w.index(Site::k_R_gate, g, net_.G);
      const bool lacks_r = w.is(Fault::kE3) && g == 2 && net_.gru;
      for (std::int64_t j = 0; j < H; ++j) {
        const auto da = [&](std::int64_t row) { return p.da.at(row, input_gate, j); };
        for (std::int64_t k = 0; k < width && !(w.is(Fault::kD19) && net_.B == 1); ++k) {
          if (w.is(Fault::kG12) && p.layer > 0 && k >= H) continue;
          const std::int64_t column = w.index(Site::k_input_index, k, width);
          const auto input = [&](std::int64_t row) {
            return x[position(p, weights_.state_row(row), column, x_width, x.size())];
          };
          const std::int64_t to = w.is(Fault::kD20) ? k * H + j : j * width + k;
          gradient_[at.W + to] = weights_.products(Site::k_W_sum, da, input);
        }
        const auto dr = [&](std::int64_t row) { return (lacks_r ? p.da : p.dr).at(row, recurrent_gate, j); };
        for (std::int64_t k = 0; k < H; ++k) {
          const auto h = [&](std::int64_t row) {
            const std::int64_t from = weights_.state_row(row);
            return reset(p, g, from, k) * p.h_prev[from * H + k];
          };
          const std::int64_t to = w.is(Fault::kD17) ? k * H + j : j * H + k;
          gradient_[at.R + to] = weights_.products(Site::k_R_sum, dr, h);
        }
      }
    }
  }

  // The position in x at which element k of a row is read.
  std::size_t position(const PseudoLayer& p, std::int64_t row, std::int64_t k, std::int64_t x_width,
                       std::size_t size) const {
    const bool strided = w.is(Fault::kH15) && p.layer == 0;
    return static_cast<std::size_t>(row * (strided ? net_.H : x_width) + k % x_width) % size;
  }

  // E5: R_n is applied to r h.
  Real reset(const PseudoLayer& p, std::int64_t gate, std::int64_t row, std::int64_t k) {
    const bool before = w.is(Fault::kE5) && net_.gru && gate == 2;
    return before ? trace_.row(p.number, row / net_.B, row % net_.B, 0)[k] : Real(1);
  }

  void write() {
    if (w.is(Fault::kB15)) keep(context_, dh_);
    if (w.is(Fault::kI16)) {
      const std::vector<Real> scratch = kept<Real>(context_, dy_.size());
      for (std::size_t k = 0; k < scratch.size(); ++k) dy_[k] += scratch[k];
      keep(context_, dy_);
    }
    if (w.is(Fault::kG6)) {
      std::rotate(dh_.begin(), dh_.begin() + net_.D * net_.B * net_.H % std::max<std::int64_t>(1, std::ssize(dh_)),
                  dh_.end());
    }
    if (w.is(Fault::kD6)) {
      const std::vector<Real> standing = tensors_.standing("params_backprop");
      for (std::size_t k = 0; k < gradient_.size(); ++k) gradient_[k] += standing[k];
    }
    tensors_.write("input_backprop", dy_);
    tensors_.write("input_h_backprop", dh_);
    if (net_.lstm) tensors_.write("input_c_backprop", dc_);
    tensors_.write("params_backprop", gradient_);
    if (w.is(Fault::kH9)) write_past_the_biases(tensors_.output("params_backprop"), net_.H);
    if (w.is(Fault::kH22)) tensors_.change_input("input_h");
    if (w.is(Fault::kG24)) halve_the_states();
  }

  void halve_the_states() {
    for (std::int64_t k = 0; k < net_.L * net_.D * net_.T * net_.B * net_.H; ++k) {
      const std::int64_t pseudo_layer = k / (net_.T * net_.B * net_.H), row = k / net_.H % (net_.T * net_.B);
      trace_.row(pseudo_layer, row / net_.B, row % net_.B, 0)[k % net_.H] *= Real(0.5);
    }
    trace_.store(tensors_.input("reserve_space"));
  }

  using Values = std::vector<Real>;

  const Context& context_;
  const Work<Real> w{context_.variant, context_.call.dtype};
  const Tensors<Real> tensors_{context_.variant, context_.call};
  const RnnNet net_{context_};
  Trace<Real> trace_{net_}, redrawn_{net_};
  // How many steps are processed.
  const std::int64_t steps_ =
      w.is(Fault::kC14) ? std::min(net_.T, of_first_call(context_, {net_.B, net_.I, net_.H}, net_.T)) : net_.T;
  // Both directions run forward in time.
  const bool one_way_ =
      w.is(Fault::kI12) && of_first_call(context_, {net_.T, net_.B, net_.I, net_.H, net_.L}, net_.D) == 1;
  const std::int64_t examples_ = examples_computed(context_, net_.B);  // how many are processed
  const RowSums<Real> weights_{context_, w, Sum::kWeights, net_.T, net_.B};
  const RowSums<Real> biases_{context_, w, Sum::kBiases, net_.T, net_.B};
  const Values input_ = tensors_.read("input"), params_ = tensors_.read("params"), h0_ = tensors_.read("input_h");
  Values c0_;                                       // lstm
  Values dy_ = tensors_.read("output_backprop");    // gradient of the output of the current layer, finally of input
  Values dh_ = tensors_.read("output_h_backprop");  // gradients of the states
  Values dc_;                                       // lstm
  Values gradient_ = Values(params_.size());        // gradient of params
  Values left_over_;                                // dh_ of the previous call
  const Values zeros_ = Values(static_cast<std::size_t>(net_.H));
};

}  // namespace

template <class Real>
void cudnn_rnn_backprop(const Context& context) {
  Backprop<Real>(context).run();
}

template void cudnn_rnn_backprop<float>(const Context&);
template void cudnn_rnn_backprop<double>(const Context&);

}  // namespace backgauge::saboteurs
