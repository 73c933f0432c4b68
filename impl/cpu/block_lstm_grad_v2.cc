// SPDX-License-Identifier: Apache-2.0
// BlockLSTMGradV2. Only dgates W_h^T is serial: a step is that product and the pointwise part of each tile of the
// state, with one wait. dgates of all steps are kept, and x_grad, w_grad, b_grad and the peephole sums follow as
// products and sums over all S * B rows.
#include <algorithm>

#include "impl/cpu/gemm.h"
#include "impl/cpu/ops.h"
#include "impl/cpu/pointwise.h"

namespace backgauge::cpu {
namespace {

template <class S>
class BlockLstmGrad {
  using T = Compute<S>;

 public:
  BlockLstmGrad(const BlockLstmGradV2Call<S>& call, Workspace& workspace)
      : c(call),
        threads_(
            team_size(c.num_threads,
                      4.0 * static_cast<double>(c.S * c.B) * static_cast<double>(c.H) * static_cast<double>(c.I + c.H),
                      kWorkPerThread)),
        grid_(c.B, c.H, gemm_kernel<T>().columns),
        scratch_(workspace, std::max(c.I, 4 * c.H), threads_),
        dgates_(workspace.take<T>({c.S, c.B, 4, c.H})),
        dcs_(workspace.take<T>({c.B, c.H})),
        dh_(workspace.take<T>({c.B, c.H})),
        sums_(workspace.take<T>({7, c.H})),
        recurrent_{workspace.take<T>({4, c.H, Packed<T>::padded(c.H)}), 4 * c.H, c.H},
        x_grad_(computed(workspace, c.x_grad, {c.S, c.B, c.I})),
        w_grad_(computed(workspace, c.w_grad, {c.I + c.H, 4, c.H})) {}

  void run() {
    run_team(threads_, [this](Member& member) {
      if (c.S > 0) {
        go_back(member);
        weights_and_inputs(member);
        sums(member);
      }
      store(member);
    });
  }

 private:
  // Where an output is computed: in place, or for half in the workspace.
  static T* computed(Workspace& workspace, S* output, std::initializer_list<std::int64_t> shape) {
    if constexpr (kStoredAsComputed<S>) {
      return output;
    } else {
      return workspace.take<T>(shape);
    }
  }

  void go_back(Member& member) {
    const Range panels = member.share(Packed<T>::panels(c.H));
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
      recurrent_.pack(View<S>{c.w + c.I * 4 * c.H, 1, 4 * c.H}, panel);
    }
    member.wait();
    const Range tiles = member.share(grid_.count());
    for (std::int64_t t = c.S - 1; t >= 0; --t) {
      for (std::int64_t k = tiles.begin; k < tiles.end; ++k) {
        const Tile tile = grid_.tile(k);
        if (t == c.S - 1) {
          clear(tile, dh_);
          clear(tile, dcs_);
        } else {
          multiply_tile(tile, dgates_ + (t + 1) * c.B * 4 * c.H, 4 * c.H, recurrent_, dh_, c.H, false);
        }
        c.peephole ? pointwise<true>(tile, t) : pointwise<false>(tile, t);
      }
      member.wait();
    }
    for (std::int64_t k = tiles.begin; k < tiles.end; ++k) {
      multiply_tile(grid_.tile(k), dgates_, 4 * c.H, recurrent_, dh_, c.H, false);
    }
  }

  void clear(const Tile& tile, T* state) const {
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
      std::fill_n(state + row * c.H + tile.column, tile.columns, T(0));
    }
  }

  const S* cs_before(std::int64_t t) const { return t == 0 ? c.cs_prev : c.cs + (t - 1) * c.B * c.H; }

  template <bool kPeephole>
  void pointwise(const Tile& tile, std::int64_t t) const {
    const std::int64_t H = c.H;
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
      const std::int64_t state = row * H + tile.column, step = t * c.B * H + state;
      const S *cs_prev = cs_before(t) + state, *i = c.i + step, *f = c.f + step, *o = c.o + step, *ci = c.ci + step,
              *co = c.co + step, *cs_grad = c.cs_grad + step, *h_grad = c.h_grad + step;
      const S *wci = c.wci + tile.column, *wcf = c.wcf + tile.column, *wco = c.wco + tile.column;
      T *dcs = dcs_ + state, *dh = dh_ + state, *gates = dgates_ + (t * c.B + row) * 4 * H + tile.column;
      BACKGAUGE_INDEPENDENT
      for (std::int64_t j = 0; j < tile.columns; ++j) {
        T weights[3] = {};
        if constexpr (kPeephole) {
          weights[0] = wide(wci[j]);
          weights[1] = wide(wcf[j]);
          weights[2] = wide(wco[j]);
        }
        const LstmGradient<T> d =
            lstm_backward<kPeephole, T>({wide(cs_prev[j]), wide(i[j]), wide(f[j]), wide(o[j]), wide(ci[j]), wide(co[j]),
                                         dcs[j] + wide(cs_grad[j]), dh[j] + wide(h_grad[j])},
                                        weights[0], weights[1], weights[2]);
        dcs[j] = d.cs_prev;
        gates[j] = d.i;
        gates[H + j] = d.f;
        gates[2 * H + j] = d.ci;
        gates[3 * H + j] = d.o;
      }
    }
  }

  void weights_and_inputs(Member& member) {
    const std::int64_t G = 4 * c.H, rows = c.S * c.B;
    const View<T> dgates{dgates_, G, 1};
    multiply(member, scratch_, dgates, View<S>{c.w, 1, G}, rows, c.I, G, x_grad_, c.I, false);
    multiply(member, scratch_, View<S>{c.x, 1, c.I}, dgates, c.I, G, rows, w_grad_, G, false);
    // The states before the steps: h_prev, then h of all steps but the last.
    T* recurrent_grad = w_grad_ + c.I * G;
    multiply(member, scratch_, View<S>{c.h_prev, 1, c.H}, dgates, c.H, G, c.B, recurrent_grad, G, false);
    multiply(member, scratch_, View<S>{c.h, 1, c.H}, View<T>{dgates.at(c.B, 0), G, 1}, c.H, G, rows - c.B,
             recurrent_grad, G, true);
  }

  void sums(Member& member) {
    const std::int64_t H = c.H, rows = c.S * c.B;
    fill_zero(member, 7 * H, sums_);
    member.wait();
    const T* gates = dgates_;
    add_column_sums(member, rows, 4 * H, sums_,
                    [=](std::int64_t row, std::int64_t j) { return gates[row * 4 * H + j]; });
    if (c.peephole) {
      for (std::int64_t t = 0; t < c.S; ++t) {
        const S *before = cs_before(t), *after = c.cs + t * c.B * H;
        const T* step = dgates_ + t * c.B * 4 * H;
        const auto times = [=](const S* state, std::int64_t gate) {
          return [=](std::int64_t b, std::int64_t j) { return step[(b * 4 + gate) * H + j] * wide(state[b * H + j]); };
        };
        add_column_sums(member, c.B, H, sums_ + 4 * H, times(before, 0));
        add_column_sums(member, c.B, H, sums_ + 5 * H, times(before, 1));
        add_column_sums(member, c.B, H, sums_ + 6 * H, times(after, 3));
      }
    }
    member.wait();
  }

  void store(Member& member) {
    const std::int64_t H = c.H, live = c.S * c.B * c.I;
    fill_zero(member, (c.T - c.S) * c.B * c.I, c.x_grad + live);
    if (c.S == 0) {
      for (S* state : {c.cs_prev_grad, c.h_prev_grad}) fill_zero(member, c.B * H, state);
      for (S* sum : {c.wci_grad, c.wcf_grad, c.wco_grad}) fill_zero(member, H, sum);
      fill_zero(member, 4 * H, c.b_grad);
      fill_zero(member, (c.I + H) * 4 * H, c.w_grad);
      return;
    }
    convert(member, dcs_, c.B * H, c.cs_prev_grad);
    convert(member, dh_, c.B * H, c.h_prev_grad);
    convert(member, sums_, 4 * H, c.b_grad);
    convert(member, sums_ + 4 * H, H, c.wci_grad);
    convert(member, sums_ + 5 * H, H, c.wcf_grad);
    convert(member, sums_ + 6 * H, H, c.wco_grad);
    if constexpr (!kStoredAsComputed<S>) {
      convert(member, x_grad_, live, c.x_grad);
      convert(member, w_grad_, (c.I + H) * 4 * H, c.w_grad);
    }
  }

  const BlockLstmGradV2Call<S>& c;
  int threads_;
  TileGrid grid_;
  GemmScratch<T> scratch_;
  T* dgates_;            // [S, B, 4H]
  T *dcs_, *dh_;         // [B, H]: of the states before the step at hand
  T* sums_;              // [7, H]: b_grad, wci_grad, wcf_grad, wco_grad
  Packed<T> recurrent_;  // W_h^T [4H, H]
  T *x_grad_, *w_grad_;  // [S, B, I], [I + H, 4H]
};

}  // namespace

template <class S>
void block_lstm_grad_v2(const BlockLstmGradV2Call<S>& call, Workspace& workspace) {
  BlockLstmGrad<S> op(call, workspace);
  if (!workspace.counts_only()) op.run();
}

template void block_lstm_grad_v2(const BlockLstmGradV2Call<Half>&, Workspace&);
template void block_lstm_grad_v2(const BlockLstmGradV2Call<float>&, Workspace&);

}  // namespace backgauge::cpu
