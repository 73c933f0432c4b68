// SPDX-License-Identifier: Apache-2.0
// CudnnRNNBackprop, from the last layer to the first. Only the product of gate gradients and R is serial; the gradients
// of input, weights and biases follow as products and sums over all T * B rows. reference/semantics.md 3.4.
#include <algorithm>

#include "impl/cpu/gemm.h"
#include "impl/cpu/ops.h"
#include "impl/cpu/pointwise.h"
#include "impl/cpu/rnn_trace.h"

namespace backgauge::cpu {
namespace {

template <class S>
class RnnBackprop {
  using T = Compute<S>;

 public:
  RnnBackprop(const CudnnRnnBackpropCall<S>& call, Workspace& workspace)
      : c(call),
        n(call, call.attributes),
        params_(rnn_params(c.attributes, c.I, c.H, c.L)),
        threads_(team_size(
            c.num_threads,
            2 * static_cast<double>(n.T * n.B) * static_cast<double>(n.G * n.H) * static_cast<double>(c.I + n.H),
            kWorkPerThread)),
        grid_(n.B, n.H, gemm_kernel<T>().columns),
        scratch_(workspace, std::max({c.I, n.D * n.H, n.H}), threads_),
        trace_(n, reinterpret_cast<const std::byte*>(c.reserve_space), workspace),
        recurrent_{workspace.take<T>({n.G, n.H, Packed<T>::padded(n.H)}), n.G * n.H, n.H},
        da_(workspace.take<T>({n.T, n.B, n.G, n.H})),
        dr_(n.mode == BACKGAUGE_GRU ? workspace.take<T>({n.T, n.B, n.G, n.H}) : da_),
        dh_(workspace.take<T>({n.B, n.H})),
        dc_(workspace.take<T>({n.B, n.H})),
        h_first_(workspace.take<T>({n.B, n.H})),
        cs_first_(workspace.take<T>({n.B, n.H})),
        dy_(workspace.take<T>({n.T, n.B, n.D, n.H})),
        dx_(n.L > 1 ? workspace.take<T>({n.T, n.B, n.D, n.H}) : nullptr),
        dropped_(n.has_masks ? workspace.take<T>({n.T, n.B, n.D, n.H}) : nullptr),
        input_grad_(computed(workspace, c.input_backprop, {n.T, n.B, c.I})),
        params_grad_(computed(workspace, c.params_backprop, {c.params_length})) {}

  void run() {
    run_team(threads_, [this](Member& member) {
      trace_.load(member);
      convert(member, c.output_backprop, n.gap(), dy_);
      fill_zero(member, c.params_length - params_.matrices(), params_grad_ + params_.matrices());
      T *dy = dy_, *below = dx_;
      for (std::int64_t layer = n.L - 1; layer >= 0; --layer) {
        T* dx = layer == 0 ? input_grad_ : below;
        for (std::int64_t direction = 0; direction < n.D; ++direction) {
          start(member, layer, direction);
          go_back(member, layer, direction, dy);
          input_gradient(member, layer, direction, dx);
          if (layer == 0) {
            weight_gradients(member, layer, direction, c.input);
          } else {
            weight_gradients(member, layer, direction,
                             static_cast<const T*>(n.has_masks ? dropped_ : trace_.y(layer - 1)));
          }
        }
        if (layer > 0 && n.has_masks) scale(member, layer - 1, dx, dx);
        std::swap(dy, below);
      }
      if constexpr (!kStoredAsComputed<S>) {
        member.wait();
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

  // out = in times the dropout factors of a gap.
  void scale(const Member& member, std::int64_t gap, const T* in, T* out) const {
    const T factor = static_cast<T>(1 / (1 - static_cast<double>(c.attributes.dropout)));
    const std::uint8_t* keep = trace_.keep(gap);
    const Range range = member.share(n.gap());
    for (std::int64_t k = range.begin; k < range.end; ++k) out[k] = in[k] * (keep[k] != 0 ? factor : T(0));
  }

  // Packs R of all gates, copies states, and makes the input of the layer once.
  void start(Member& member, std::int64_t layer, std::int64_t direction) const {
    member.wait();  // the last user of what is written now, and the writer of what is read
    const Range panels = member.share(Packed<T>::panels(n.H));
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
      recurrent_.pack(View<S>{c.params + params_.R(layer, direction, 0), n.H, 1}, panel);
    }
    const std::int64_t first = (layer * n.D + direction) * n.step();
    convert(member, c.input_h + first, n.step(), h_first_);
    convert(member, c.output_h_backprop + first, n.step(), dh_);
    if (c.lstm) {
      convert(member, c.input_c + first, n.step(), cs_first_);
      convert(member, c.output_c_backprop + first, n.step(), dc_);
    }
    if (layer > 0 && direction == 0 && n.has_masks) scale(member, layer - 1, trace_.y(layer - 1), dropped_);
    member.wait();
  }

  // Of the step at hand, at row 0: states before it and saved values.
  struct Step {
    const T *h_prev, *cs_prev, *gates, *y, *co, *hn, *dy;
    std::int64_t h_row;  // of h_prev; of y and dy it is D * H
    T *da, *dr;
  };

  Step step_at(std::int64_t layer, std::int64_t direction, std::int64_t t, const T* dy) const {
    const std::int64_t pseudo_layer = layer * n.D + direction, row = n.D * n.H;
    const std::int64_t before = direction == 0 ? t - 1 : t + 1;
    const bool initial = before < 0 || before == n.T;
    const T* y = trace_.y(layer) + direction * n.H;
    Step s{};
    s.h_prev = initial ? h_first_ : y + before * n.B * row;
    s.h_row = initial ? n.H : row;
    s.gates = trace_.gates(pseudo_layer) + t * n.step() * n.G;
    s.y = y + t * n.B * row;
    s.dy = dy + t * n.B * row + direction * n.H;
    s.da = da_ + t * n.step() * n.G;
    s.dr = dr_ + t * n.step() * n.G;
    if (n.mode == BACKGAUGE_LSTM) {
      s.cs_prev = initial ? cs_first_ : trace_.cs(pseudo_layer) + before * n.step();
      s.co = trace_.co(pseudo_layer) + t * n.step();
    }
    if (n.mode == BACKGAUGE_GRU) s.hn = trace_.hn(pseudo_layer) + t * n.step();
    return s;
  }

  void go_back(Member& member, std::int64_t layer, std::int64_t direction, const T* dy) const {
    const std::int64_t GH = n.G * n.H, first = (layer * n.D + direction) * n.step();
    const Range tiles = member.share(grid_.count());
    const bool has_direct_term = n.mode == BACKGAUGE_GRU;  // dh * z, which pointwise left in dh_
    const T* dr_after = nullptr;
    for (std::int64_t step = 0; step < n.T; ++step) {
      const Step s = step_at(layer, direction, direction == 0 ? n.T - 1 - step : step, dy);
      for (std::int64_t k = tiles.begin; k < tiles.end; ++k) {
        const Tile tile = grid_.tile(k);
        if (dr_after != nullptr) multiply_tile(tile, dr_after, GH, recurrent_, dh_, n.H, has_direct_term);
        pointwise(tile, s);
      }
      member.wait();
      dr_after = s.dr;
    }
    for (std::int64_t k = tiles.begin; k < tiles.end; ++k) {
      multiply_tile(grid_.tile(k), dr_after, GH, recurrent_, dh_, n.H, has_direct_term);
    }
    member.wait();
    convert(member, dh_, n.step(), c.input_h_backprop + first);
    if (c.lstm) convert(member, dc_, n.step(), c.input_c_backprop + first);
  }

  void pointwise(const Tile& tile, const Step& s) const {
    const std::int64_t H = n.H, y_row = n.D * H;
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
      const std::int64_t at = row * H + tile.column, gates_at = row * n.G * H + tile.column;
      const T *gates = s.gates + gates_at, *dy = s.dy + row * y_row + tile.column;
      T *da = s.da + gates_at, *dr = s.dr + gates_at, *dh = dh_ + at;
      switch (n.mode) {
        case BACKGAUGE_RNN_RELU: {
          const T* y = s.y + row * y_row + tile.column;
          BACKGAUGE_INDEPENDENT
          for (std::int64_t j = 0; j < tile.columns; ++j) da[j] = y[j] > 0 ? dh[j] + dy[j] : T(0);  // 0 at the kink
          break;
        }
        case BACKGAUGE_RNN_TANH: {
          const T* y = s.y + row * y_row + tile.column;
          BACKGAUGE_INDEPENDENT
          for (std::int64_t j = 0; j < tile.columns; ++j) da[j] = (dh[j] + dy[j]) * (1 - y[j] * y[j]);
          break;
        }
        case BACKGAUGE_LSTM: lstm(tile.columns, gates, s.cs_prev + at, s.co + at, dy, dh, dc_ + at, da); break;
        default: gru(tile.columns, gates, s.h_prev + row * s.h_row + tile.column, s.hn + at, dy, dh, da, dr);
      }
    }
  }

  void lstm(std::int64_t columns, const T* gates, const T* cs_prev, const T* co, const T* dy, const T* dh, T* dc,
            T* da) const {
    const std::int64_t H = n.H;
    const T none = 0;
    BACKGAUGE_INDEPENDENT
    for (std::int64_t j = 0; j < columns; ++j) {
      const LstmGradient<T> d = lstm_backward<false, T>(
          {cs_prev[j], gates[j], gates[H + j], gates[3 * H + j], gates[2 * H + j], co[j], dc[j], dh[j] + dy[j]}, none,
          none, none);
      dc[j] = d.cs_prev;
      da[j] = d.i;
      da[H + j] = d.f;
      da[2 * H + j] = d.ci;
      da[3 * H + j] = d.o;
    }
  }

  void gru(std::int64_t columns, const T* gates, const T* h_prev, const T* hn, const T* dy, T* dh, T* da, T* dr) const {
    const std::int64_t H = n.H;
    BACKGAUGE_INDEPENDENT
    for (std::int64_t j = 0; j < columns; ++j) {
      const T r = gates[j], z = gates[H + j], candidate = gates[2 * H + j], dh_now = dh[j] + dy[j];
      const T dn = dh_now * (1 - z) * (1 - candidate * candidate);
      da[j] = dr[j] = dn * hn[j] * r * (1 - r);
      da[H + j] = dr[H + j] = dh_now * (h_prev[j] - candidate) * z * (1 - z);
      da[2 * H + j] = dn;
      dr[2 * H + j] = dn * r;  // the reset gate stands between the candidate and R_n h + bR_n
      dh[j] = dh_now * z;
    }
  }

  // dx = da W, summed over directions; with skip_input da of all gates.
  void input_gradient(Member& member, std::int64_t layer, std::int64_t direction, T* dx) const {
    const std::int64_t H = n.H, GH = n.G * H, rows = n.T * n.B;
    if (!(layer == 0 && params_.skip_input)) {
      const std::int64_t width = params_.matrix_input(layer);
      multiply(member, scratch_, View<T>{da_, GH, 1}, View<S>{c.params + params_.W(layer, direction, 0), width, 1},
               rows, width, GH, dx, width, direction > 0);
      return;
    }
    const Range range = member.share(rows);
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      for (std::int64_t j = 0; j < H; ++j) {
        T sum = direction > 0 ? dx[row * H + j] : T(0);
        for (std::int64_t gate = 0; gate < n.G; ++gate) sum += da_[row * GH + gate * H + j];
        dx[row * H + j] = sum;
      }
    }
  }

  template <class X>
  void weight_gradients(Member& member, std::int64_t layer, std::int64_t direction, const X* x) const {
    const std::int64_t H = n.H, GH = n.G * H, rows = n.T * n.B, width = params_.matrix_input(layer);
    if (width > 0) {
      multiply(member, scratch_, View<T>{da_, 1, GH}, View<X>{x, width, 1}, GH, width, rows,
               params_grad_ + params_.W(layer, direction, 0), width, false);
    }
    // The states before the steps: the initial one at the first step of the direction, y elsewhere.
    T* dR = params_grad_ + params_.R(layer, direction, 0);
    const T* y = trace_.y(layer) + direction * H;
    const std::int64_t later = direction == 0 ? n.B : 0, last = (n.T - 1) * n.B;
    multiply(member, scratch_, View<T>{dr_ + (direction == 0 ? 0 : last * GH), 1, GH}, View<T>{h_first_, H, 1}, GH, H,
             n.B, dR, H, false);
    multiply(member, scratch_, View<T>{dr_ + later * GH, 1, GH},
             View<T>{direction == 0 ? y : y + n.B * n.D * H, n.D * H, 1}, GH, H, last, dR, H, true);
    const T *da = da_, *dr = dr_;
    add_column_sums(member, rows, GH, params_grad_ + params_.bW(layer, direction, 0),
                    [=](std::int64_t row, std::int64_t j) { return da[row * GH + j]; });
    add_column_sums(member, rows, GH, params_grad_ + params_.bR(layer, direction, 0),
                    [=](std::int64_t row, std::int64_t j) { return dr[row * GH + j]; });
  }

  const CudnnRnnBackpropCall<S>& c;
  const RnnSizes n;
  const RnnParams params_;
  int threads_;
  TileGrid grid_;
  GemmScratch<T> scratch_;
  RnnTrace<S, const std::byte> trace_;
  Packed<T> recurrent_;                 // R [G*H, H]
  T *da_, *dr_;                         // [T, B, G*H]: of W x + bW and R h + bR; one array but for gru
  T *dh_, *dc_, *h_first_, *cs_first_;  // [B, H]
  T *dy_, *dx_, *dropped_;              // [T, B, D*H]
  T *input_grad_, *params_grad_;        // [T, B, I], [params_length]
};

}  // namespace

template <class S>
void cudnn_rnn_backprop(const CudnnRnnBackpropCall<S>& call, Workspace& workspace) {
  RnnBackprop<S> op(call, workspace);
  if (!workspace.counts_only()) op.run();
}

template void cudnn_rnn_backprop(const CudnnRnnBackpropCall<Half>&, Workspace&);
template void cudnn_rnn_backprop(const CudnnRnnBackpropCall<float>&, Workspace&);
template void cudnn_rnn_backprop(const CudnnRnnBackpropCall<double>&, Workspace&);

}  // namespace backgauge::cpu
