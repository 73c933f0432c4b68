// SPDX-License-Identifier: Apache-2.0
// CudnnRNNBackprop, from the last layer to the first. Only the product of gate gradients and R is serial; the gradients
// of input and weights follow as products over all T * B rows. reference/semantics.md 3.4.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/ops/cudnn_rnn_backprop.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include "impl/cpu/amx/products-inl.h"
#include "impl/cpu/kernels/gradients-inl.h"
#include "impl/cpu/ops/ops.h"
#include "impl/cpu/ops/rnn-inl.h"
#include "impl/cpu/ops/rnn_trace.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class S>
class RnnBackprop {
  using T = Compute<S>;
  using Amx = AmxProducts<T>;
  static constexpr std::int64_t P = kPanel<T>, L = kLanes<T>;

 public:
  RnnBackprop(const CudnnRnnBackpropCall<S>& call, Workspace& workspace)
      : c(call),
        n(rnn_sizes(call, call.attributes)),
        params_(rnn_params(c.attributes, c.I, c.H, c.L)),
        threads_(team_size(
            c.num_threads,
            2 * static_cast<double>(n.T * n.B) * static_cast<double>(n.G * n.H) * static_cast<double>(c.I + n.H),
            kWorkPerThread)),
        panels_(blocks(n.H, P)),
        gates_(n.T, n.B, n.G == 1 ? 1 : 4, n.H, P),
        amx_(workspace, threads_, gates_, n.G, n.H, n.T, n.B, widest_input()),
        scratch_(workspace, threads_, amx_.use().inputs ? 0 : n.T * n.B),
        trace_(n, reinterpret_cast<const std::byte*>(c.reserve_space), workspace),
        weights_(workspace.take<T>(
            {std::max(amx_.use().serial ? 0 : panels_, amx_.use().weights ? 0 : blocks(widest_input(), P)), n.G, n.H,
             P})),
        dh_(workspace.take<T>({panels_, n.B, P})),
        dc_(workspace.take<T>({panels_, n.B, P})),
        sums_(workspace.take<T>({panels_, 4, P})),
        h_first_(workspace.take<T>({n.B, n.H})),
        cs_first_(workspace.take<T>({n.B, n.H})),
        dy_(workspace.take<T>({n.T, n.B, n.D, n.H})),
        dx_(n.L > 1 ? workspace.take<T>({n.T, n.B, n.D, n.H}) : nullptr),
        dropped_(n.has_masks ? workspace.take<T>({n.T, n.B, n.D, n.H}) : nullptr),
        input_(kStoredAsComputed<S> ? nullptr : workspace.take<T>({n.T, n.B, c.I})),
        input_grad_(computed(workspace, c.input_backprop, {n.T, n.B, c.I})),
        params_grad_(computed(workspace, c.params_backprop, {c.params_length})) {
    gates_.take(workspace);
  }

  void run() {
    run_team(threads_, [this](Member& member) HWY_ATTR {
      const auto tiles = amx_.configured();
      amx_.clear_steps(member);
      trace_.load(member);
      convert(member, c.output_backprop, n.gap(), dy_);
      if constexpr (!kStoredAsComputed<S>) convert(member, c.input, n.T * n.B * c.I, input_);
      fill_zero(member, c.params_length - params_.matrices(), params_grad_ + params_.matrices());
      T *dy = dy_, *below = dx_;
      for (std::int64_t layer = n.L - 1; layer >= 0; --layer) {
        T* dx = layer == 0 ? input_grad_ : below;
        for (std::int64_t direction = 0; direction < n.D; ++direction) {
          start(member, layer, direction);
          go_back(member, layer, direction, dy);
          weight_gradients(member, layer, direction);
          if (layer > 0 && n.has_masks) {
            masked_input_gradient(member, layer, direction, dx);
          } else {
            input_gradient(member, layer, direction, dx, direction > 0);
          }
        }
        member.wait();
        std::swap(dy, below);
      }
      if constexpr (!kStoredAsComputed<S>) {
        convert(member, input_grad_, n.T * n.B * c.I, c.input_backprop);
        convert(member, params_grad_, c.params_length, c.params_backprop);
      }
    });
  }

 private:
  static T* computed(Workspace& workspace, S* output, std::initializer_list<std::int64_t> shape) {
    if constexpr (kStoredAsComputed<S>) {
      return output;
    } else {
      return workspace.take<T>(shape);
    }
  }

  std::int64_t widest_input() const { return std::max(c.I, n.L > 1 ? n.D * n.H : 0); }

  // The positions of the op's gates among the stored gates. A GRU stores the candidate twice: its recurrent side comes
  // first, its input side last, so that each side has a contiguous range.
  bool gru() const { return n.mode == BACKGAUGE_GRU; }
  std::int64_t recurrent_gate(std::int64_t kept) const { return gru() ? (kept + 2) % 3 : kept; }
  std::int64_t first_input_gate() const { return gru() ? 1 : 0; }

  // out = in times the factors of a mask, or is increased by it.
  template <bool kAdd>
  void scale(const Member& member, std::int64_t mask, const T* in, T* out) const {
    const T factor = static_cast<T>(1 / (1 - static_cast<double>(c.attributes.dropout)));
    const std::uint8_t* keep = trace_.keep(mask);
    const Range range = member.share(n.gap());
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      const T scaled = in[k] * (keep[k] != 0 ? factor : T(0));
      out[k] = kAdd ? out[k] + scaled : scaled;
    }
  }

  // Packs R of all gates, copies states, and makes the input of the layer once.
  void start(Member& member, std::int64_t layer, std::int64_t direction) const {
    member.wait();  // for the last reader of what is written now, and the writer of what is read
    const Range own = member.share(panels_);
    pack_recurrent(member, layer, direction);
    const std::int64_t first = (layer * n.D + direction) * n.step();
    convert(member, c.input_h + first, n.step(), h_first_);
    if (c.lstm) convert(member, c.input_c + first, n.step(), cs_first_);
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) {
      pack_straight(c.output_h_backprop + first + panel * P, n.H, std::min(P, n.H - panel * P), n.B,
                    dh_ + panel * n.B * P);
      if (c.lstm) {
        pack_straight(c.output_c_backprop + first + panel * P, n.H, std::min(P, n.H - panel * P), n.B,
                      dc_ + panel * n.B * P);
      }
    }
    std::fill_n(sums_ + own.begin * 4 * P, (own.end - own.begin) * 4 * P, T(0));
    if (layer > 0 && n.has_masks) {
      scale<false>(member, n.mask(layer - 1, direction), trace_.y(layer - 1), dropped_);
    }
    member.wait();
  }

  void pack_recurrent(const Member& member, std::int64_t layer, std::int64_t direction) const {
    const auto of_gate = [=, this](std::int64_t gate) {
      return c.params + params_.R(layer, direction, recurrent_gate(gate));
    };
    if (amx_.use().serial) return amx_.pack_weights(member, n.H, n.H, 1, of_gate);
    const Weights<T> R{weights_, n.G, n.H};
    const Range own = member.share(panels_);
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) {
      for (std::int64_t gate = 0; gate < n.G; ++gate) {
        pack_straight(of_gate(gate) + panel * P, n.H, std::min(P, n.H - panel * P), n.H,
                      R.panel(panel) + gate * n.H * P);
      }
    }
  }

  // The states before step t and its saved values, at row 0.
  RnnStep<T> step_at(std::int64_t layer, std::int64_t direction, std::int64_t t, const T* dy) const {
    const std::int64_t pseudo_layer = layer * n.D + direction, row = n.D * n.H;
    const std::int64_t before = direction == 0 ? t - 1 : t + 1;
    const bool initial = before < 0 || before == n.T;
    const T* y = trace_.y(layer) + direction * n.H;
    RnnStep<T> s{};
    s.rows = n.B;
    s.columns = n.H;
    s.y_row = row;
    s.h_prev = initial ? h_first_ : y + before * n.B * row;
    s.h_row = initial ? n.H : row;
    s.gates = trace_.gates(pseudo_layer) + t * n.step() * n.G;
    s.y = y + t * n.B * row;
    s.dy = dy + t * n.B * row + direction * n.H;
    if (n.mode == BACKGAUGE_LSTM) {
      s.cs_prev = initial ? cs_first_ : trace_.cs(pseudo_layer) + before * n.step();
      s.co = trace_.co(pseudo_layer) + t * n.step();
    }
    if (gru()) s.hn = trace_.hn(pseudo_layer) + t * n.step();
    s.out = gates_.step(t);
    s.out_panel = gates_.chunk_stride();
    s.out_gate = panels_ * s.out_panel;
    return s;
  }

  void pointwise(std::int64_t panel, const RnnStep<T>& s) const {
    T *dh = dh_ + panel * n.B * P, *dc = dc_ + panel * n.B * P, *sums = sums_ + panel * 4 * P;
    const bool part = (panel + 1) * P > n.H;
    switch (n.mode) {
      case BACKGAUGE_RNN_RELU: return part ? rnn_relu<true>(s, panel, dh, sums) : rnn_relu<false>(s, panel, dh, sums);
      case BACKGAUGE_RNN_TANH: return part ? rnn_tanh<true>(s, panel, dh, sums) : rnn_tanh<false>(s, panel, dh, sums);
      case BACKGAUGE_LSTM:
        return part ? rnn_lstm<true>(s, panel, dh, dc, sums) : rnn_lstm<false>(s, panel, dh, dc, sums);
      default: return part ? rnn_gru<true>(s, panel, dh, sums) : rnn_gru<false>(s, panel, dh, sums);
    }
  }

  void go_back(Member& member, std::int64_t layer, std::int64_t direction, const T* dy) const {
    const Range own = member.share(panels_);
    const StateProduct<T> product(gates_, Weights<T>{weights_, n.G, n.H}, n.B, wide_panels<T>(n.H));
    const auto multiply = [&](std::int64_t t, bool backwards, auto reads, auto done) HWY_ATTR {
      if (amx_.use().serial) return amx_.multiply_step(member, t, own, backwards, dh_, gru(), reads, done);
      product.run(gates_.step(t), own, backwards, dh_, gru(), reads, done);
    };
    for (std::int64_t step = 0; step < n.T; ++step) {
      const std::int64_t t = direction == 0 ? n.T - 1 - step : step;
      const RnnStep<T> s = step_at(layer, direction, t, dy);
      if (step == 0) {
        for (std::int64_t panel = own.begin; panel < own.end; ++panel) pointwise_of(panel, s, t);
      } else {
        multiply(
            direction == 0 ? t + 1 : t - 1, step % 2 == 0,
            [&](std::int64_t panel) HWY_ATTR { return rnn_reads(n.mode, s, panel); },
            [&](std::int64_t panel) HWY_ATTR { pointwise_of(panel, s, t); });
      }
      member.wait();
    }
    multiply(
        direction == 0 ? 0 : n.T - 1, false, [](std::int64_t) { return PrefetchQueue(); },
        [&](std::int64_t panel) HWY_ATTR { store_panel(layer, direction, panel); });
  }

  // Also packs the operand of the product of the step, if that is computed in tiles.
  void pointwise_of(std::int64_t panel, const RnnStep<T>& s, std::int64_t t) const {
    pointwise(panel, s);
    if (amx_.use().serial) amx_.pack_step(t, panel);
  }

  // Called once the state before the first step is complete.
  void store_panel(std::int64_t layer, std::int64_t direction, std::int64_t panel) const {
    const std::int64_t first = (layer * n.D + direction) * n.step(), columns = std::min(P, n.H - panel * P);
    store_columns(dh_ + panel * n.B * P, n.B, columns, c.input_h_backprop + first + panel * P, n.H);
    if (c.lstm) store_columns(dc_ + panel * n.B * P, n.B, columns, c.input_c_backprop + first + panel * P, n.H);
    const T* sums = sums_ + panel * 4 * P;
    for (std::int64_t gate = 0; gate < n.G; ++gate) {
      store_columns(sums + gate * P, 1, columns,
                    params_grad_ + params_.bR(layer, direction, recurrent_gate(gate)) + panel * P, n.H);
      store_columns(sums + (first_input_gate() + gate) * P, 1, columns,
                    params_grad_ + params_.bW(layer, direction, gate) + panel * P, n.H);
    }
  }

  // Each direction's da W through its own mask, summed. The input of the layer is not needed any more, and makes room.
  void masked_input_gradient(Member& member, std::int64_t layer, std::int64_t direction, T* dx) const {
    input_gradient(member, layer, direction, dropped_, false);
    member.wait();
    const std::int64_t mask = n.mask(layer - 1, direction);
    direction == 0 ? scale<false>(member, mask, dropped_, dx) : scale<true>(member, mask, dropped_, dx);
  }

  // dx = da W, or is increased by it; with skip_input da of all gates.
  void input_gradient(Member& member, std::int64_t layer, std::int64_t direction, T* dx, bool add) const {
    const std::int64_t width = params_.matrix_input(layer);
    if (layer == 0 && params_.skip_input) return sum_gates(member, dx, add);
    member.wait();  // until no member needs the packed operand any more
    const S* const w = c.params + params_.W(layer, direction, 0);
    const auto output = [=](std::int64_t row, std::int64_t panel) {
      return Output<T, T>{dx + row * width + panel * P, width, std::min(P, width - panel * P), add};
    };
    if (amx_.use().weights) {
      amx_.pack_weights(member, width, width, 1, [=, this](std::int64_t gate) { return w + gate * n.H * width; });
      member.wait();
      return amx_.multiply_weights(member, first_input_gate(), width, output);
    }
    const Weights<T> W{weights_, n.G, n.H};
    const Range own = member.share(blocks(width, P));
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) {
      pack_straight(w + panel * P, width, std::min(P, width - panel * P), n.G * n.H, W.panel(panel));
    }
    member.wait();
    multiply_weights(member, gates_, first_input_gate(), W, width, scratch_, output);
  }

  void sum_gates(Member& member, T* dx, bool add) const {
    const Tag<T> d;
    const std::int64_t gate_stride = panels_ * gates_.chunk_stride();
    for (std::int64_t b = 0; b < gates_.blocks(); ++b) {
      const Block all = gates_.rows(b);
      const Range own = member.share(all.size);
      for (std::int64_t panel = 0; panel < panels_; ++panel) {
        const T* from = gates_.at(b, first_input_gate() * panels_ + panel);
        for (std::int64_t row = own.begin; row < own.end; ++row) {
          for (std::int64_t lane = 0; lane < P; lane += L) {
            const std::int64_t column = panel * P + lane, live = std::min(L, n.H - column);
            if (live <= 0) break;
            T* to = dx + (all.begin + row) * n.H + column;
            Vector<T> sum = add ? load_part(d, to, live) : hn::Zero(d);
            for (std::int64_t gate = 0; gate < n.G; ++gate) {
              sum = hn::Add(sum, load(d, from + gate * gate_stride + row * P + lane));
            }
            store_part(d, sum, to, live);
          }
        }
      }
    }
  }

  // dW = da^T x and dR = dr^T h, from the transposed products x^T da and h^T dr.
  void weight_gradients(Member& member, std::int64_t layer, std::int64_t direction) const {
    const std::int64_t H = n.H, B = n.B, width = params_.matrix_input(layer), rows = n.T * B, y_row = n.D * H;
    const T* x = dropped_;
    if (layer == 0) {
      if constexpr (kStoredAsComputed<S>) {
        x = c.input;
      } else {
        x = input_;
      }
    } else if (!n.has_masks) {
      x = trace_.y(layer - 1);
    }
    const Range all = member.share(width + H);
    const Range inputs{std::min(all.begin, width), std::min(all.end, width)};
    const Range states{std::max(all.begin, width) - width, std::max(all.end, width) - width};
    const auto output = [=, this](T* to, std::int64_t columns, std::int64_t column, std::int64_t chunk,
                                  std::int64_t gate) {
      const std::int64_t unit = chunk % panels_ * P;
      return TransposedOutput<T>{to + (gate * H + unit) * columns + column, columns, std::min(P, H - unit)};
    };
    T *const dW = params_grad_ + params_.W(layer, direction, 0), *const dR =
                                                                     params_grad_ + params_.R(layer, direction, 0);
    const auto output_of_inputs = [=, this](std::int64_t column, std::int64_t chunk) {
      return output(dW, width, column, chunk, chunk / panels_);
    };
    const auto output_of_states = [=, this](std::int64_t column, std::int64_t chunk) {
      return output(dR, H, column, chunk, recurrent_gate(chunk / panels_));
    };
    // The states before the steps: the initial one at the first step of the direction, y elsewhere.
    const T* y = trace_.y(layer) + direction * H;
    const Rows<T> first{h_first_, H, B}, others{direction == 0 ? y : y + B * y_row, y_row, rows - B};
    const Rows<T>&h_begin = direction == 0 ? first : others, &h_rest = direction == 0 ? others : first;
    const Rows<T> all_x{x, width, rows}, no_more{x, width, 0};
    const std::int64_t chunks = n.G * panels_;
    if (amx_.use().inputs) {
      member.wait();  // until no member needs R any more
      amx_.pack_gradients(member);
      member.wait();
      amx_.multiply_inputs(member, width, all_x, no_more, first_input_gate(), chunks, output_of_inputs);
      return amx_.multiply_inputs(member, H, h_begin, h_rest, 0, chunks, output_of_states);
    }
    multiply_inputs<T, T>(member, inputs, all_x, no_more, gates_, first_input_gate(), chunks, scratch_,
                          output_of_inputs);
    multiply_inputs<T, T>(member, states, h_begin, h_rest, gates_, 0, chunks, scratch_, output_of_states);
  }

  const CudnnRnnBackpropCall<S>& c;
  const RnnSizes n;
  const RnnParams params_;
  int threads_;
  std::int64_t panels_;
  StepPanels<T> gates_;  // of W x + bW and R h + bR
  Amx amx_;
  ProductScratch<T> scratch_;
  RnnTrace<S, const std::byte> trace_;
  T* weights_;                    // R, later W
  T *dh_, *dc_;                   // gradients of the states before the current step, in panels
  T* sums_;                       // [panel][gate][column]
  T *h_first_, *cs_first_;        // [B, H]
  T *dy_, *dx_, *dropped_;        // [T, B, D*H]
  T* input_;                      // [T, B, I], if its storage type is not T
  T *input_grad_, *params_grad_;  // [T, B, I], [params_length]
};

template <class S>
void cudnn_rnn_backprop(const CudnnRnnBackpropCall<S>& call, Workspace& workspace) {
  RnnBackprop<S> op(call, workspace);
  if (!workspace.counts_only()) op.run();
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {
BACKGAUGE_OP_ON_PATH_OF_EVERY_TYPE(cudnn_rnn_backprop, CudnnRnnBackpropCall)
}  // namespace backgauge::cpu
#endif
