// SPDX-License-Identifier: Apache-2.0
// CudnnRNN in training, layer by layer and direction by direction. W x of all steps is one product; a step is R h and
// the activations of each tile of the state, with one wait. reference/semantics.md 3.3.
#include <algorithm>

#include "impl/cpu/gemm.h"
#include "impl/cpu/ops.h"
#include "impl/cpu/philox.h"
#include "impl/cpu/pointwise.h"
#include "impl/cpu/rnn_trace.h"

namespace backgauge::cpu {
namespace {

template <class S>
class RnnForward {
  using T = Compute<S>;

 public:
  RnnForward(const CudnnRnnCall<S>& call, Workspace& workspace)
      : c(call),
        n(call, call.attributes),
        params_(rnn_params(c.attributes, c.I, c.H, c.L)),
        threads_(
            team_size(c.num_threads,
                      static_cast<double>(n.T * n.B) * static_cast<double>(n.G * n.H) * static_cast<double>(c.I + n.H),
                      kWorkPerThread)),
        grid_(n.B, n.H, gemm_kernel<T>().columns),
        scratch_(workspace, n.G * n.H, threads_),
        trace_(n, reinterpret_cast<std::byte*>(c.reserve_space), workspace),
        recurrent_(workspace.take<T>({n.G, n.H, Packed<T>::padded(n.H)})),
        h_first_(workspace.take<T>({n.B, n.H})),
        cs_first_(workspace.take<T>({n.B, n.H})),
        bias_(workspace.take<T>({2, n.G, n.H})),
        dropped_(n.has_masks ? workspace.take<T>({n.T, n.B, n.D, n.H}) : nullptr) {}

  void run() {
    run_team(threads_, [this](Member& member) {
      for (std::int64_t layer = 0; layer < n.L; ++layer) {
        const T* x = layer == 0 ? nullptr : input(member, layer);
        for (std::int64_t direction = 0; direction < n.D; ++direction) {
          start(member, layer, direction);
          if (layer == 0) {
            input_side(member, layer, direction, c.input);
          } else {
            input_side(member, layer, direction, x);
          }
          steps(member, layer, direction);
        }
      }
      convert(member, trace_.y(n.L - 1), n.gap(), c.output);
      trace_.store(member);
      if (member.index() == 0) trace_.clear_rest();
    });
  }

 private:
  // The input of a layer above the first: y of the layer below, through dropout.
  const T* input(Member& member, std::int64_t layer) const {
    const T* y = trace_.y(layer - 1);
    if (!n.has_masks) return y;
    const std::uint64_t key = dropout_key(c.attributes.seed, c.attributes.seed2);
    const T scale = static_cast<T>(1 / (1 - static_cast<double>(c.attributes.dropout)));
    std::uint8_t* keep = trace_.keep(layer - 1);
    const Range range = member.share(blocks(n.gap(), 4));
    for (std::int64_t block = range.begin; block < range.end; ++block) {
      const auto kept = dropout_keep(key, layer - 1, block, c.attributes.dropout);
      for (std::int64_t k = 4 * block; k < std::min(4 * block + 4, n.gap()); ++k) {
        keep[k] = kept[static_cast<std::size_t>(k % 4)];
        dropped_[k] = y[k] * (keep[k] != 0 ? scale : T(0));
      }
    }
    return dropped_;  // read after the wait in start()
  }

  // Packs R of each gate, and copies biases and initial states.
  void start(Member& member, std::int64_t layer, std::int64_t direction) const {
    const std::int64_t H = n.H, panels = Packed<T>::panels(H);
    const Range parts = member.share(n.G * panels);
    for (std::int64_t part = parts.begin; part < parts.end; ++part) {
      const std::int64_t gate = part / panels;
      recurrent(gate).pack(View<S>{c.params + params_.R(layer, direction, gate), 1, H}, part % panels);
    }
    convert(member, c.params + params_.bW(layer, direction, 0), 2 * n.G * H, bias_);
    const std::int64_t first = (layer * n.D + direction) * n.step();
    convert(member, c.input_h + first, n.step(), h_first_);
    if (c.lstm) convert(member, c.input_c + first, n.step(), cs_first_);
    member.wait();
  }

  Packed<T> recurrent(std::int64_t gate) const { return {recurrent_ + gate * n.H * Packed<T>::padded(n.H), n.H, n.H}; }

  // gates = W x + bW, or with skip_input x + bW; + bR where the recurrent side is nothing but added to it.
  template <class X>
  void input_side(Member& member, std::int64_t layer, std::int64_t direction, const X* x) const {
    const std::int64_t H = n.H, GH = n.G * H, rows = n.T * n.B;
    const bool skip = layer == 0 && params_.skip_input;
    T* gates = trace_.gates(layer * n.D + direction);
    const Range range = member.share(rows);
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      for (std::int64_t gate = 0; gate < n.G; ++gate) {
        const bool apart = n.mode == BACKGAUGE_GRU && gate == 2;
        for (std::int64_t j = 0; j < H; ++j) {
          const T bias = apart ? bias_[gate * H + j] : bias_[gate * H + j] + bias_[(n.G + gate) * H + j];
          gates[row * GH + gate * H + j] = skip ? bias + wide(x[row * H + j]) : bias;
        }
      }
    }
    member.wait();
    if (skip) return;
    const std::int64_t width = params_.matrix_input(layer);
    multiply(member, scratch_, View<X>{x, width, 1}, View<S>{c.params + params_.W(layer, direction, 0), 1, width}, rows,
             GH, width, gates, GH, true);
  }

  void steps(Member& member, std::int64_t layer, std::int64_t direction) const {
    const std::int64_t H = n.H, pseudo_layer = layer * n.D + direction, y_row = n.D * H;
    const Range tiles = member.share(grid_.count());
    T* const y = trace_.y(layer) + direction * H;
    const T *h = h_first_, *cs = cs_first_;
    std::int64_t h_row = H;
    for (std::int64_t step = 0; step < n.T; ++step) {
      const std::int64_t t = direction == 0 ? step : n.T - 1 - step;
      T* gates = trace_.gates(pseudo_layer) + t * n.B * n.G * H;
      T* y_now = y + t * n.B * y_row;
      for (std::int64_t k = tiles.begin; k < tiles.end; ++k) {
        const Tile tile = grid_.tile(k);
        for (std::int64_t gate = 0; gate < n.G; ++gate) {
          if (n.mode == BACKGAUGE_GRU && gate == 2) {
            multiply_tile(tile, h, h_row, recurrent(gate), trace_.hn(pseudo_layer) + t * n.step(), H, false);
          } else {
            multiply_tile(tile, h, h_row, recurrent(gate), gates + gate * H, n.G * H, true);
          }
        }
        for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
          const std::int64_t at = row * H + tile.column;
          T* gates_row = gates + row * n.G * H + tile.column;
          T* y_out = y_now + row * y_row + tile.column;
          switch (n.mode) {
            case BACKGAUGE_RNN_RELU:
              for (std::int64_t j = 0; j < tile.columns; ++j) y_out[j] = std::max(T(0), gates_row[j]);
              break;
            case BACKGAUGE_RNN_TANH:
              for (std::int64_t j = 0; j < tile.columns; ++j) y_out[j] = std::tanh(gates_row[j]);
              break;
            case BACKGAUGE_LSTM:
              lstm(tile.columns, gates_row, cs + at, trace_.cs(pseudo_layer) + t * n.step() + at,
                   trace_.co(pseudo_layer) + t * n.step() + at, y_out);
              break;
            default:
              gru(tile.columns, gates_row, bias_ + (n.G + 2) * H + tile.column,
                  trace_.hn(pseudo_layer) + t * n.step() + at, h + row * h_row + tile.column, y_out);
          }
        }
      }
      member.wait();
      h = y_now;
      h_row = y_row;
      if (c.lstm) cs = trace_.cs(pseudo_layer) + t * n.step();
    }
    store_states(member, pseudo_layer, h, h_row, cs);
  }

  void lstm(std::int64_t columns, T* gates, const T* cs_prev, T* cs, T* co, T* y) const {
    const std::int64_t H = n.H;
    for (std::int64_t j = 0; j < columns; ++j) {
      const T i = sigmoid(gates[j]), f = sigmoid(gates[H + j]), g = std::tanh(gates[2 * H + j]);
      const T o = sigmoid(gates[3 * H + j]);
      cs[j] = f * cs_prev[j] + i * g;
      co[j] = std::tanh(cs[j]);
      y[j] = o * co[j];
      gates[j] = i;
      gates[H + j] = f;
      gates[2 * H + j] = g;
      gates[3 * H + j] = o;
    }
  }

  void gru(std::int64_t columns, T* gates, const T* bR_n, T* hn, const T* h_prev, T* y) const {
    const std::int64_t H = n.H;
    for (std::int64_t j = 0; j < columns; ++j) {
      const T r = sigmoid(gates[j]), z = sigmoid(gates[H + j]);
      hn[j] += bR_n[j];
      const T candidate = std::tanh(gates[2 * H + j] + r * hn[j]);
      y[j] = (1 - z) * candidate + z * h_prev[j];
      gates[j] = r;
      gates[H + j] = z;
      gates[2 * H + j] = candidate;
    }
  }

  // The last states, with no wait: each row was complete at the last one.
  void store_states(const Member& member, std::int64_t pseudo_layer, const T* h, std::int64_t h_row,
                    const T* cs) const {
    const Range rows = member.share(n.B);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t j = 0; j < n.H; ++j) {
        const std::int64_t at = pseudo_layer * n.step() + row * n.H + j;
        c.output_h[at] = S(h[row * h_row + j]);
        if (c.lstm) c.output_c[at] = S(cs[row * n.H + j]);
      }
    }
  }

  const CudnnRnnCall<S>& c;
  const RnnSizes n;
  const RnnParams params_;
  int threads_;
  TileGrid grid_;
  GemmScratch<T> scratch_;
  RnnTrace<S, std::byte> trace_;
  T* recurrent_;            // R^T of each gate, packed
  T *h_first_, *cs_first_;  // [B, H]
  T* bias_;                 // [2, G, H]: bW, bR
  T* dropped_;              // [T, B, D*H]
};

}  // namespace

template <class S>
void cudnn_rnn_forward(const CudnnRnnCall<S>& call, Workspace& workspace) {
  RnnForward<S> op(call, workspace);
  if (!workspace.counts_only()) op.run();
}

template void cudnn_rnn_forward(const CudnnRnnCall<Half>&, Workspace&);
template void cudnn_rnn_forward(const CudnnRnnCall<float>&, Workspace&);
template void cudnn_rnn_forward(const CudnnRnnCall<double>&, Workspace&);

}  // namespace backgauge::cpu
