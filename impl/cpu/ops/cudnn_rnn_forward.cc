// SPDX-License-Identifier: Apache-2.0
// CudnnRNN in training, layer by layer and direction by direction. W x of all steps is one product; a step is R h and
// the activations of each panel of the state, with one wait. reference/semantics.md 3.3.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/ops/cudnn_rnn_forward.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include "impl/cpu/kernels/gradients-inl.h"
#include "impl/cpu/ops/ops.h"
#include "impl/cpu/ops/rnn_forward-inl.h"
#include "impl/cpu/ops/rnn_trace.h"
#include "impl/dropout_philox.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class S>
class RnnForward {
  using T = Compute<S>;
  static constexpr std::int64_t P = kPanel<T>;

 public:
  RnnForward(const CudnnRnnForwardCall<S>& call, Workspace& workspace)
      : c(call.op),
        shares_masks_(call.shares_masks),
        n(rnn_sizes(c, c.attributes)),
        params_(rnn_params(c.attributes, c.I, c.H, c.L)),
        threads_(
            team_size(c.num_threads,
                      static_cast<double>(n.T * n.B) * static_cast<double>(n.G * n.H) * static_cast<double>(c.I + n.H),
                      kWorkPerThread)),
        panels_(blocks(n.H, P)),
        input_(n.T, n.B, 1, c.I, P),
        below_(n.T, n.B, 1, n.L > 1 ? n.D * n.H : 0, P),
        h_(2, n.B, 1, n.H, P),
        scratch_(workspace, threads_, 0),
        trace_(n, reinterpret_cast<std::byte*>(c.reserve_space), workspace),
        weights_(workspace.take<T>({panels_ * n.G, std::max({n.H, c.I, n.L > 1 ? n.D * n.H : 0}), P})),
        recurrent_(workspace.take<T>({panels_, n.G, n.B, P})),
        bias_(workspace.take<T>({panels_, kBiases, P})),
        cs_first_(c.lstm ? workspace.take<T>({n.B, n.H}) : nullptr),
        dropped_(n.has_masks ? workspace.take<T>({n.T, n.B, n.D, n.H}) : nullptr) {
    input_.take(workspace);
    below_.take(workspace);
    h_.take(workspace);
  }

  void run() {
    run_team(threads_, [this](Member& member) HWY_ATTR {
      for (std::int64_t layer = 0; layer < n.L; ++layer) {
        if (layer == 0 && !is_plain_sum(layer)) pack_input(member, c.input, c.I, input_);
        for (std::int64_t direction = 0; direction < n.D; ++direction) {
          if (layer > 0 && (direction == 0 || n.has_masks)) {
            pack_input(member, output_below(member, layer, direction), n.D * n.H, below_);
          }
          input_side(member, layer, direction);
          start(member, layer, direction);
          go(member, layer, direction);
        }
      }
      convert(member, trace_.y(n.L - 1), n.gap(), c.output);
      trace_.store(member);
      if (member.index() == 0) trace_.clear_rest();
    });
  }

 private:
  static constexpr std::int64_t kBiases = 4;  // at most, of RnnForwardSums

  // y of the layer below, through the dropout of a direction.
  const T* output_below(Member& member, std::int64_t layer, std::int64_t direction) const {
    const T* y = trace_.y(layer - 1);
    if (!n.has_masks) return y;
    const std::uint64_t key = dropout_key(c.attributes.seed, c.attributes.seed2);
    const T scale = static_cast<T>(1 / (1 - static_cast<double>(c.attributes.dropout)));
    std::uint8_t* keep = trace_.keep(n.mask(layer - 1, direction));
    const auto dropout = static_cast<double>(c.attributes.dropout);
    const Range range = member.share(blocks(n.gap(), kDropoutDraw));
    for (std::int64_t draw = range.begin; draw < range.end; ++draw) {
      const PhiloxWords words = dropout_words(key, layer - 1, shares_masks_ ? 0 : direction, draw);
      const std::int64_t first = kDropoutDraw * draw, end = std::min(first + kDropoutDraw, n.gap());
      for (std::int64_t k = first; k < end; ++k) {
        keep[k] = is_kept(words.of[k - first], dropout);
        dropped_[k] = y[k] * (keep[k] != 0 ? scale : T(0));
      }
    }
    member.wait();
    return dropped_;
  }

  // The rows of all steps as an operand.
  template <class X>
  void pack_input(const Member& member, const X* x, std::int64_t width, const StepPanels<T>& to) const {
    const Range own = member.share(to.chunks());
    for (std::int64_t b = 0; b < to.blocks(); ++b) {
      const Block rows = to.rows(b);
      for (std::int64_t chunk = own.begin; chunk < own.end; ++chunk) {
        pack_straight(x + rows.begin * width + chunk * P, width, std::min(P, width - chunk * P), rows.size,
                      to.at(b, chunk));
      }
    }
  }

  // Whether there is no product: skip_input, or no inputs.
  bool is_plain_sum(std::int64_t layer) const { return params_.matrix_input(layer) == 0; }

  // Writes W x of all steps to the gates.
  void input_side(Member& member, std::int64_t layer, std::int64_t direction) const {
    const std::int64_t GH = n.G * n.H, width = params_.matrix_input(layer);
    T* const gates = trace_.gates(layer * n.D + direction);
    if (is_plain_sum(layer)) return copy_input(member, gates);
    const Weights<T> W{weights_, 1, width};
    const Range own = member.share(blocks(GH, P));
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) {
      pack_transposed(c.params + params_.W(layer, direction, 0) + panel * P * width, width, std::min(P, GH - panel * P),
                      width, W.panel(panel));
    }
    member.wait();
    multiply_weights(member, layer == 0 ? input_ : below_, 0, W, GH, scratch_,
                     [=](std::int64_t row, std::int64_t panel) {
                       return Output<T, T>{gates + row * GH + panel * P, GH, std::min(P, GH - panel * P)};
                     });
  }

  // Copies x to every gate, or zeros if there are no inputs.
  void copy_input(const Member& member, T* gates) const {
    const Range own = member.share(n.T * n.B);
    for (std::int64_t row = own.begin; row < own.end; ++row) {
      for (std::int64_t gate = 0; gate < n.G; ++gate) {
        T* const to = gates + (row * n.G + gate) * n.H;
        if (params_.skip_input) {
          convert(c.input + row * n.H, n.H, to);
        } else {
          std::fill_n(to, n.H, T(0));
        }
      }
    }
  }

  // Packs R of all gates, gate after gate for each panel of the state, adds up the biases, and copies the states.
  void start(Member& member, std::int64_t layer, std::int64_t direction) const {
    member.wait();  // until no member needs W any more, and the gates are complete
    const Weights<T> R{weights_, 1, n.H};
    const std::int64_t first = (layer * n.D + direction) * n.step();
    const Range own = member.share(panels_);
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) {
      const std::int64_t live = std::min(P, n.H - panel * P);
      for (std::int64_t gate = 0; gate < n.G; ++gate) {
        pack_transposed(c.params + params_.R(layer, direction, gate) + panel * P * n.H, n.H, live, n.H,
                        R.panel(panel * n.G + gate));
      }
      add_biases(layer, direction, panel);
      pack_straight(c.input_h + first + panel * P, n.H, live, n.B, h_.step(0) + panel * h_.chunk_stride());
    }
    if (c.lstm) convert(member, c.input_c + first, n.step(), cs_first_);
    member.wait();
  }

  void add_biases(std::int64_t layer, std::int64_t direction, std::int64_t panel) const {
    T* const to = bias_ + panel * kBiases * P;
    std::fill_n(to, kBiases * P, T(0));
    for (std::int64_t gate = 0; gate < n.G; ++gate) {
      const S* const bW = c.params + params_.bW(layer, direction, gate) + panel * P;
      const S* const bR = c.params + params_.bR(layer, direction, gate) + panel * P;
      const std::int64_t side = n.mode == BACKGAUGE_GRU && gate == 2 ? 3 : gate;
      for (std::int64_t j = 0; j < std::min(P, n.H - panel * P); ++j) {
        to[gate * P + j] += wide(bW[j]);
        to[side * P + j] += wide(bR[j]);
      }
    }
  }

  void go(Member& member, std::int64_t layer, std::int64_t direction) const {
    const std::int64_t pseudo_layer = layer * n.D + direction, first = pseudo_layer * n.step();
    const Range own = member.share(panels_), parts{own.begin * n.G, own.end * n.G};
    const StateProduct<T> product(h_, Weights<T>{weights_, 1, n.H}, n.B, wide_panels<T>(n.H) * n.G);
    const T* cs = cs_first_;
    for (std::int64_t step = 0; step < n.T; ++step) {
      const RnnForwardStep<T> s = step_at(layer, direction, step, cs);
      const bool backwards = step % 2 != 0;
      const std::int64_t last_gate = backwards ? 0 : n.G - 1;
      product.run(
          s.h_prev, parts, backwards, recurrent_, false, [](std::int64_t) { return PrefetchQueue(); },
          [&](std::int64_t part) HWY_ATTR {
            if (part % n.G == last_gate) pointwise(part / n.G, s);
          });
      cs = s.cs;
      member.wait();
    }
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) {
      store_columns(h_.step(n.T % 2) + panel * h_.chunk_stride(), n.B, std::min(P, n.H - panel * P),
                    c.output_h + first + panel * P, n.H);
    }
    if (c.lstm) convert(member, cs, n.step(), c.output_c + first);
  }

  RnnForwardStep<T> step_at(std::int64_t layer, std::int64_t direction, std::int64_t step, const T* cs_prev) const {
    const std::int64_t pseudo_layer = layer * n.D + direction, t = direction == 0 ? step : n.T - 1 - step;
    RnnForwardStep<T> s{};
    s.rows = n.B;
    s.columns = n.H;
    s.h_panel = h_.chunk_stride();
    s.y_row = n.D * n.H;
    s.h_prev = h_.step(step % 2);
    s.h = h_.step((step + 1) % 2);
    s.y = trace_.y(layer) + t * n.B * s.y_row + direction * n.H;
    s.gates = trace_.gates(pseudo_layer) + t * n.step() * n.G;
    if (n.mode == BACKGAUGE_LSTM) {
      s.cs_prev = cs_prev;
      s.cs = trace_.cs(pseudo_layer) + t * n.step();
      s.co = trace_.co(pseudo_layer) + t * n.step();
    }
    if (n.mode == BACKGAUGE_GRU) s.hn = trace_.hn(pseudo_layer) + t * n.step();
    return s;
  }

  void pointwise(std::int64_t panel, const RnnForwardStep<T>& s) const {
    const RnnForwardSums<T> sums{recurrent_ + panel * n.G * n.B * P, bias_ + panel * kBiases * P};
    if ((panel + 1) * P > n.H) {
      pointwise<true>(panel, s, sums);
    } else {
      pointwise<false>(panel, s, sums);
    }
  }
  template <bool kPart>
  void pointwise(std::int64_t panel, const RnnForwardStep<T>& s, const RnnForwardSums<T>& sums) const {
    switch (n.mode) {
      case BACKGAUGE_RNN_RELU: return forward_relu<kPart>(s, sums, panel);
      case BACKGAUGE_RNN_TANH: return forward_tanh<kPart>(s, sums, panel);
      case BACKGAUGE_LSTM: return forward_lstm<kPart>(s, sums, panel);
      default: return forward_gru<kPart>(s, sums, panel);
    }
  }

  const CudnnRnnCall<S>& c;
  const bool shares_masks_;
  const RnnSizes n;
  const RnnParams params_;
  int threads_;
  std::int64_t panels_;
  StepPanels<T> input_, below_;  // the input of the first layer, and of the others
  StepPanels<T> h_;              // before and after a step, alternating
  ProductScratch<T> scratch_;
  RnnTrace<S, std::byte> trace_;
  T* weights_;    // W, later R
  T* recurrent_;  // R h of a step: [panel][gate][row][column]
  T* bias_;       // [panel][bias][column]
  T* cs_first_;   // [B, H]
  T* dropped_;    // [T, B, D*H]
};

template <class S>
void cudnn_rnn_forward(const CudnnRnnForwardCall<S>& call, Workspace& workspace) {
  RnnForward<S> op(call, workspace);
  if (!workspace.counts_only()) op.run();
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {
BACKGAUGE_OP_ON_PATH_OF_EVERY_TYPE(cudnn_rnn_forward, CudnnRnnForwardCall)
}  // namespace backgauge::cpu
#endif
