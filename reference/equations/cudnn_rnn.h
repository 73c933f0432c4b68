// SPDX-License-Identifier: Apache-2.0
// Stacked RNNs of the four modes, forward and backward, over any arithmetic. Equation numbers: cudnn_rnn.md.
// A pseudo-layer is one direction of one layer. Weights and the input of the net are read where they are needed and not
// kept.
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "reference/arithmetic/over_steps.h"
#include "reference/contract/backgauge.h"
#include "reference/equations/rnn_step.h"

namespace backgauge::equations {

template <class M>
struct RnnNet {
  backgauge_rnn_mode mode;
  bool skip_input;  // layer 0 adds its input to every gate
  std::size_t steps, layers, directions;
  std::vector<M> input_h, input_c;  // [B, H] per pseudo-layer, layer-major; input_c for lstm only
  // Per gap between layers, direction of the layer above and step [B, D*H]: 0 or 1/(1-p). One mask may serve all
  // directions; empty: no dropout.
  std::vector<std::vector<std::vector<M>>> masks;
};

// The weights of a pseudo-layer, and [B, I] the input of step t.
template <class R, class M>
concept ReadsRnn = requires(const R& read, std::size_t k) {
  { read.weights(k) } -> std::same_as<RnnWeights<M>>;
  { read.input(k) } -> std::same_as<M>;
};

template <class M>
struct RnnTrace {                                    // of a forward pass
  std::vector<std::vector<RnnStep<M>>> steps;        // [pseudo-layer][t]
  std::vector<std::vector<std::vector<M>>> dropped;  // per mask of the net: what it leaves
  std::vector<M> output_h, output_c;                 // [pseudo-layer] [B, H]
};

template <class M>
struct RnnGradients {
  std::vector<M> input;             // [t] [B, I]
  std::vector<M> input_h, input_c;  // [pseudo-layer] [B, H]
  std::vector<RnnWeights<M>> layers;
};

namespace detail {

// [B, D*H] of layer l at step t, before dropout.
template <class A, class M>
M layer_output(const A& a, const RnnNet<M>& net, const RnnTrace<M>& trace, std::size_t l, std::size_t t) {
  std::vector<const M*> parts;
  for (std::size_t d = 0; d < net.directions; ++d) parts.push_back(&trace.steps[l * net.directions + d][t].h);
  return a.beside(parts);
}

// What direction d of layer l reads at step t: [B, in], after dropout.
template <class A, class R, class M>
M layer_input(const A& a, const R& read, const RnnNet<M>& net, const RnnTrace<M>& trace, std::size_t l, std::size_t d,
              std::size_t t) {
  if (l == 0) return read.input(t);
  if (net.masks.empty()) return layer_output(a, net, trace, l - 1, t);
  const auto& dropped = trace.dropped[l - 1];
  return dropped[d % dropped.size()][t];
}

// W of all directions of layer l, one below the other.
template <class A, class R, class M = typename A::Matrix>
M input_weights(const A& a, const R& read, std::size_t directions, std::size_t l) {
  std::vector<M> weights;
  for (std::size_t d = 0; d < directions; ++d) weights.push_back(read.weights(l * directions + d).W);
  std::vector<const M*> parts;
  for (const M& part : weights) parts.push_back(&part);
  return a.below(parts);
}

}  // namespace detail

// Computes the outputs of the forward op, and everything that the backward pass needs.
template <class A, class M = typename A::Matrix, ReadsRnn<M> R>
RnnTrace<M> cudnn_rnn_forward(const A& a, const RnnNet<M>& net, const R& read) {
  const std::size_t T = net.steps, D = net.directions, L = net.layers;
  const bool lstm = net.mode == BACKGAUGE_LSTM;
  RnnTrace<M> trace;
  for (std::size_t l = 0; l < L; ++l) {
    for (std::size_t d = 0; d < D; ++d) {
      const std::size_t pl = l * D + d;
      std::vector<RnnStep<M>> steps(T);
      const bool skip = net.skip_input && l == 0;
      const auto weights = detail::step_weights(a, net.mode, read.weights(pl), skip);
      const M* h = &net.input_h[pl];
      const M* cs = lstm ? &net.input_c[pl] : nullptr;
      for (std::size_t k = 0; k < T; ++k) {
        const std::size_t t = d == 0 ? k : T - 1 - k;
        const M x = detail::layer_input(a, read, net, trace, l, d, t);
        steps[t] = detail::kept_step(a, net.mode, detail::rnn_step_forward(a, net.mode, weights, skip, x, *h, cs));
        h = &steps[t].h;
        if (lstm) cs = &steps[t].lstm.cs;
      }
      trace.output_h.push_back(*h);
      if (lstm) trace.output_c.push_back(*cs);
      trace.steps.push_back(std::move(steps));
    }
    if (l + 1 == L || net.masks.empty()) continue;
    auto& dropped = trace.dropped.emplace_back();
    for (const std::vector<M>& mask : net.masks[l]) {
      std::vector<M>& left = dropped.emplace_back();
      for (std::size_t t = 0; t < T; ++t) {
        left.push_back(kept(a, a.saved(a.product(detail::layer_output(a, net, trace, l, t), mask[t]))));  // (18)
      }
    }
  }
  return trace;
}

// [t] [B, D*H]
template <class A, class M = typename A::Matrix>
std::vector<M> cudnn_rnn_output(const A& a, const RnnNet<M>& net, const RnnTrace<M>& trace) {
  std::vector<M> out;
  for (std::size_t t = 0; t < net.steps; ++t) out.push_back(detail::layer_output(a, net, trace, net.layers - 1, t));
  return out;
}

// The gradients of a net with T >= 1 from its trace and the gradients of the loss with respect to output, as
// output_backprop(t) [B, D*H], and per pseudo-layer output_h and (lstm) output_c. Steps of the trace are released as
// soon as they have been used.
template <class A, class OutputBackprop, class M = typename A::Matrix, ReadsRnn<M> R>
RnnGradients<M> cudnn_rnn_backward(const A& a, const RnnNet<M>& net, const R& read, RnnTrace<M> trace,
                                   const OutputBackprop& output_backprop, const std::vector<M>& output_h_backprop,
                                   const std::vector<M>& output_c_backprop) {
  const std::size_t T = net.steps, D = net.directions, L = net.layers;
  const auto H = output_h_backprop[0].cols();
  const bool lstm = net.mode == BACKGAUGE_LSTM;
  const auto held = [](M rows) { return std::make_shared<M>(std::move(rows)); };

  RnnGradients<M> out;
  out.input_h.resize(L * D);
  out.input_c.resize(lstm ? L * D : 0);
  out.layers.resize(L * D);
  std::vector<M> dy;  // unless the layer is the last
  for (std::size_t l = L; l-- > 0;) {
    const bool skip = net.skip_input && l == 0;
    std::vector<std::vector<std::shared_ptr<M>>> da(D, std::vector<std::shared_ptr<M>>(T));
    for (std::size_t d = 0; d < D; ++d) {
      const std::size_t pl = l * D + d;
      const M R_weights = right_factor(a, read.weights(pl).R);
      std::vector<RnnStep<M>>& steps = trace.steps[pl];
      ProductOverSteps<A> W_grad(a), R_grad(a);
      SumOverSteps<A> bW_grad(a), bR_grad(a);
      M dh_carry = output_h_backprop[pl];
      M dc = lstm ? output_c_backprop[pl] : M();
      for (std::size_t k = 0; k < T; ++k) {
        const std::size_t t = d == 0 ? T - 1 - k : k;
        const auto column = static_cast<Eigen::Index>(d) * H;
        const M dh_here = a.columns(l + 1 == L ? output_backprop(t) : dy[t], column, H);
        const M dh = a.carried(a.sum(dh_carry, dh_here));   // (19)
        const std::size_t before = d == 0 ? t - 1 : t + 1;  // in the order of the forward pass
        const bool is_first = k + 1 == T;
        const M& h_prev = is_first ? net.input_h[pl] : steps[before].h;
        const M* cs_prev = !lstm ? nullptr : is_first ? &net.input_c[pl] : &steps[before].lstm.cs;
        auto g = detail::rnn_step_backward(a, net.mode, steps[t], h_prev, cs_prev, dh, dc);
        dh_carry = a.carried(net.mode == BACKGAUGE_GRU ? a.add_matmul(g.h_direct, g.dr, R_weights)  // (20)
                                                       : a.matmul(g.dr, R_weights));
        if (lstm) dc = a.carried(g.cs_prev);  // (21)
        da[d][t] = held(std::move(g.da));
        const std::shared_ptr<const M> dr = net.mode == BACKGAUGE_GRU ? held(std::move(g.dr)) : da[d][t];
        if (!skip) W_grad.add(t, da[d][t], held(detail::layer_input(a, read, net, trace, l, d, t)));  // (22)
        R_grad.add(t, dr, held(h_prev));                                                              // (23)
        bW_grad.add(t, *da[d][t]);                                                                    // (24)
        bR_grad.add(t, *dr);
        if (!skip) only_left_factor(a, *da[d][t]);
        steps[t] = {};
      }
      out.input_h[pl] = dh_carry;
      if (lstm) out.input_c[pl] = dc;
      RnnWeights<M>& gradient = out.layers[pl];
      gradient.W = skip ? a.zeros(R_weights.rows(), 0) : output(a, W_grad.total());
      gradient.R = output(a, R_grad.total());
      gradient.bW = bW_grad.total();
      gradient.bR = bR_grad.total();
    }
    std::vector<M> dx(T);
    const bool own_masks = l > 0 && !net.masks.empty() && net.masks[l - 1].size() > 1;
    // Each direction apart: where it has a mask of its own, or where its gradient is saved before the sum.
    const bool apart = own_masks || (D > 1 && a.rounds_saved());
    const auto through_gates = [&](const M& gates, const M& weights) {
      if (!skip) return a.matmul(gates, weights);  // (26)
      std::vector<M> terms;                        // (25)
      for (Eigen::Index g = 0; g < gates.cols() / H; ++g) terms.push_back(a.columns(gates, g * H, H));
      return a.sum(terms);
    };
    const auto through_mask = [&](M side, std::size_t d, std::size_t t) {  // (27)
      if (l == 0 || net.masks.empty()) return side;
      return a.product(side, net.masks[l - 1][own_masks ? d : 0][t]);
    };
    const M both_weights = skip || apart ? M() : right_factor(a, detail::input_weights(a, read, D, l));
    for (std::size_t d = 0; apart && d < D; ++d) {
      const M weights = skip ? M() : right_factor(a, read.weights(l * D + d).W);
      for (std::size_t t = 0; t < T; ++t) {
        M side = through_mask(a.saved(through_gates(*da[d][t], weights)), d, t);
        dx[t] = d == 0 ? std::move(side) : a.sum(dx[t], side);
        da[d][t].reset();
      }
    }
    for (std::size_t t = 0; t < T; ++t) {
      if (!apart) {
        std::vector<const M*> sides;
        for (std::size_t d = 0; d < D; ++d) sides.push_back(da[d][t].get());
        const M all_gates = a.beside(sides);
        for (std::size_t d = 0; d < D; ++d) da[d][t].reset();
        dx[t] = through_mask(a.saved(through_gates(all_gates, both_weights)), 0, t);
      }
      dx[t] = l == 0 ? output(a, std::move(dx[t])) : a.saved(std::move(dx[t]));
    }
    if (l > 0) {
      if (!net.masks.empty()) trace.dropped[l - 1].clear();
      dy = std::move(dx);
    } else {
      out.input = std::move(dx);
    }
  }
  return out;
}

}  // namespace backgauge::equations
