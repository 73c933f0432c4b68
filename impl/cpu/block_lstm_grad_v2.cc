// SPDX-License-Identifier: Apache-2.0
// BlockLSTMGradV2. Only dgates W_h^T is serial: a step is that product and the pointwise part of each panel of the
// state, with one wait. dgates of all steps are kept, and x_grad and w_grad follow as products over all S * B rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/block_lstm_grad_v2.cc"
#include "impl/cpu/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include "impl/cpu/lstm-inl.h"
#include "impl/cpu/ops.h"
#include "impl/cpu/path.h"
#include "impl/cpu/state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class S>
class BlockLstmGrad {
  using T = Compute<S>;
  static constexpr std::int64_t P = kPanel<T>, L = kLanes<T>;

 public:
  BlockLstmGrad(const BlockLstmGradV2Call<S>& call, Workspace& workspace)
      : c(call),
        threads_(
            team_size(c.num_threads,
                      4.0 * static_cast<double>(c.S * c.B) * static_cast<double>(c.H) * static_cast<double>(c.I + c.H),
                      kWorkPerThread)),
        dgates_(c.S, c.B, 4, c.H, P),
        panels_(blocks(c.H, P)),
        dcs_(workspace.take<T>({panels_, c.B, P})),
        dh_(workspace.take<T>({panels_, c.B, P})),
        sums_(workspace.take<T>({panels_, 7, P})),
        weights_{workspace.take<T>({std::max(panels_, blocks(c.I, P)), 4, c.H, P}), 4, c.H},
        rows_(workspace.take<T>({threads_, kTilesPerBlock, kTileRows, c.S, c.B})),
        partials_(take_partials<T>(workspace, threads_)) {
    dgates_.take(workspace);
  }

  void run() {
    run_team(threads_, [this](Member& member) HWY_ATTR {
      if (c.S == 0) return clear(member);
      pack(member, c.w + c.I * 4 * c.H, c.H);
      member.wait();
      c.peephole ? go_back<true>(member) : go_back<false>(member);
      weight_gradient(member);
      member.wait();  // until nobody needs W_h any more
      pack(member, c.w, c.I);
      member.wait();
      input_gradient(member);
    });
  }

 private:
  // `rows` rows of w as weights of so many columns.
  void pack(const Member& member, const S* w, std::int64_t rows) const {
    const std::int64_t G = 4 * c.H;
    const Range range = member.share(blocks(rows, P));
    for (std::int64_t panel = range.begin; panel < range.end; ++panel) {
      pack_transposed(w + panel * P * G, G, std::min(P, rows - panel * P), G, weights_.panel(panel));
    }
  }

  template <bool kPeephole>
  void go_back(Member& member) const {
    const Range own = member.share(panels_);
    const std::int64_t state = own.begin * c.B * P, size = (own.end - own.begin) * c.B * P;
    std::fill_n(dcs_ + state, size, T(0));
    std::fill_n(dh_ + state, size, T(0));
    std::fill_n(sums_ + own.begin * 7 * P, (own.end - own.begin) * 7 * P, T(0));
    const StateProduct<T> product(dgates_, weights_, c.B);
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) pointwise<kPeephole>(panel, c.S - 1);
    for (std::int64_t t = c.S - 1; t > 0; --t) {
      member.wait();
      product.run(
          dgates_.step(t), own, t % 2 == 0, dh_, false,
          [=, this](std::int64_t panel, const Block& rows, std::int64_t part, std::int64_t parts)
              HWY_ATTR { fetch(panel, rows, t - 1, part, parts); },
          [=, this](std::int64_t panel) HWY_ATTR { pointwise<kPeephole>(panel, t - 1); });
    }
    member.wait();
    product.run(
        dgates_.step(0), own, true, dh_, false, [](std::int64_t, const Block&, std::int64_t, std::int64_t) {},
        [=, this](std::int64_t panel) HWY_ATTR { store_panel(panel); });
  }

  const S* cs_before(std::int64_t t) const { return t == 0 ? c.cs_prev : c.cs + (t - 1) * c.B * c.H; }

  // Asks for a part of what pointwise() will read and write: so many rows of some of its tensors.
  HWY_INLINE void fetch(std::int64_t panel, const Block& rows, std::int64_t t, std::int64_t part,
                        std::int64_t parts) const {
    constexpr std::int64_t kInputs = 8, kGates = 4;
    const std::int64_t step = t * c.B * c.H, first = rows.begin * c.H + panel * P;
    const S* const inputs[kInputs] = {cs_before(t), c.i + step,  c.f + step,       c.o + step,
                                      c.ci + step,  c.co + step, c.cs_grad + step, c.h_grad + step};
    const Block own = Blocks(kInputs + kGates, parts)[part];
    for (std::int64_t k = own.begin; k < own.end(); ++k) {
      if (k < kInputs) {
        for (std::int64_t row = 0; row < rows.size; ++row) hwy::Prefetch(inputs[k] + first + row * c.H);
      } else {
        const T* gate = dgates_.step(t) + ((k - kInputs) * panels_ + panel) * dgates_.chunk_stride();
        for (std::int64_t row = rows.begin; row < rows.end(); ++row) hwy::Prefetch(gate + row * P);
      }
    }
  }

  // All rows of a panel of step t.
  template <bool kPeephole>
  void pointwise(std::int64_t panel, std::int64_t t) const {
    if (HWY_LIKELY((panel + 1) * P <= c.H)) {
      pointwise_rows<kPeephole, false>(panel, t);
    } else {
      pointwise_rows<kPeephole, true>(panel, t);
    }
  }

  template <bool kPeephole, bool kPart>
  void pointwise_rows(std::int64_t panel, std::int64_t t) const {
    const Tag<T> d;
    const std::int64_t H = c.H, B = c.B, at = t * B * H + panel * P, live = H - panel * P;
    const std::int64_t gate = dgates_.panels() * dgates_.chunk_stride();
    const S *cs_prev = cs_before(t) + panel * P, *cs = c.cs + at, *i = c.i + at, *f = c.f + at, *o = c.o + at,
            *ci = c.ci + at, *co = c.co + at, *cs_grad = c.cs_grad + at, *h_grad = c.h_grad + at;
    const S *wci = c.wci + panel * P, *wcf = c.wcf + panel * P, *wco = c.wco + panel * P;
    T *dcs = dcs_ + panel * B * P, *dh = dh_ + panel * B * P, *const sums = sums_ + panel * 7 * P;
    T* out = dgates_.step(t) + panel * dgates_.chunk_stride();
    for (std::int64_t row = 0; row < B; ++row, dcs += P, dh += P, out += P) {
      for (std::int64_t lane = 0; lane < P; lane += L) {
        const std::int64_t k = row * H + lane;
        const auto get = [=](const S* from) HWY_ATTR {
          return load_live<kPart>(d, from, std::clamp(live - lane, std::int64_t{0}, L));
        };
        const Vector<T> zero = hn::Zero(d), before = get(cs_prev + k);
        const LstmGradients<Vector<T>> g = lstm_gradients<kPeephole>(
            before, get(i + k), get(f + k), get(o + k), get(ci + k), get(co + k),
            hn::Add(load(d, dcs + lane), get(cs_grad + k)), hn::Add(load(d, dh + lane), get(h_grad + k)),
            kPeephole ? get(wci + lane) : zero, kPeephole ? get(wcf + lane) : zero, kPeephole ? get(wco + lane) : zero);
        store(d, g.cs_prev, dcs + lane);
        store(d, g.i, out + lane);
        store(d, g.f, out + lane + gate);
        store(d, g.ci, out + lane + 2 * gate);
        store(d, g.o, out + lane + 3 * gate);
        T* const sum = sums + lane;
        store(d, hn::Add(load(d, sum), g.i), sum);
        store(d, hn::Add(load(d, sum + P), g.f), sum + P);
        store(d, hn::Add(load(d, sum + 2 * P), g.ci), sum + 2 * P);
        store(d, hn::Add(load(d, sum + 3 * P), g.o), sum + 3 * P);
        if constexpr (kPeephole) {
          store(d, hn::MulAdd(g.i, before, load(d, sum + 4 * P)), sum + 4 * P);
          store(d, hn::MulAdd(g.f, before, load(d, sum + 5 * P)), sum + 5 * P);
          store(d, hn::MulAdd(g.o, get(cs + k), load(d, sum + 6 * P)), sum + 6 * P);
        }
      }
    }
  }

  // `rows` rows of a panel in the workspace as columns of an output.
  void store_rows(const T* from, std::int64_t rows, std::int64_t panel, S* to) const {
    const Tag<T> d;
    for (std::int64_t row = 0; row < rows; ++row, from += P, to += c.H) {
      for (std::int64_t lane = 0; lane < P; lane += L) {
        const std::int64_t column = panel * P + lane;
        if (column + L <= c.H) {
          store(d, load(d, from + lane), to + column);
        } else if (column < c.H) {
          store_part(d, load(d, from + lane), to + column, c.H - column);
        }
      }
    }
  }

  // Once the state before the first step is complete.
  void store_panel(std::int64_t panel) const {
    store_rows(dh_ + panel * c.B * P, c.B, panel, c.h_prev_grad);
    store_rows(dcs_ + panel * c.B * P, c.B, panel, c.cs_prev_grad);
    const T* sums = sums_ + panel * 7 * P;
    store_rows(sums, 4, panel, c.b_grad);
    store_rows(sums + 4 * P, 1, panel, c.wci_grad);
    store_rows(sums + 5 * P, 1, panel, c.wcf_grad);
    store_rows(sums + 6 * P, 1, panel, c.wco_grad);
  }

  // w_grad = [x, h before]^T dgates.
  void weight_gradient(Member& member) const {
    const Range rows = member.share(c.I + c.H);
    weight_rows({std::min(rows.begin, c.I), std::min(rows.end, c.I)}, c.x, c.x + c.B * c.I, c.I, c.w_grad, member);
    weight_rows({std::max(rows.begin, c.I) - c.I, std::max(rows.end, c.I) - c.I}, c.h_prev, c.h, c.H,
                c.w_grad + c.I * 4 * c.H, member);
  }

  // Rows [range) of one half of w_grad, from inputs of so many columns: `first` at the first step, then `others`.
  void weight_rows(const Range& range, const S* first, const S* others, std::int64_t columns, S* w_grad,
                   const Member& member) const {
    constexpr std::int64_t kMost = 384;  // rows of a piece: in float three quarters of an L1 of 32 KiB
    const std::int64_t total = range.end - range.begin, G = 4 * c.H, depth = c.S * c.B;
    const std::int64_t parts = std::max(blocks(dgates_.rows(0).size, kMost), std::int64_t{1});
    const std::int64_t pieces = dgates_.blocks() * parts, tile_stride = kTileRows * depth;
    T* const packed = rows_ + member.index() * kTilesPerBlock * tile_stride;
    T* const partials = partials_ + member.index() * kTilesPerBlock * kPanelsPerGroup * kTileRows * P;
    const std::int64_t count = blocks(blocks(total, kTileRows), kTilesPerBlock);
    for (std::int64_t index = 0; index < count; ++index) {
      const Block own = block(total, count, index);
      const std::int64_t column = range.begin + own.begin, tiles = blocks(own.size, kTileRows);
      const Blocks rows(own.size, tiles);
      pack_tiles(first + column, columns, own.size, c.B, tiles, 0, packed, tile_stride);
      pack_tiles(others + column, columns, own.size, depth - c.B, tiles, c.B, packed, tile_stride);
      const auto piece_rows = [=, this](std::int64_t piece) {
        const Block all = dgates_.rows(piece / parts), part = block(all.size, parts, piece % parts);
        return Block{all.begin + part.begin, part.size};
      };
      multiply_block<Layout::kDown, T>(
          rows, tiles, dgates_.chunks(), pieces, partials,
          [=](std::int64_t piece) {
            const Block deep = piece_rows(piece);
            const std::int64_t chunks = blocks(deep.size, P);
            const Depth all{0, chunks, std::max(chunks, std::int64_t{1}), deep.size - (chunks - 1) * P};
            return [=](std::int64_t k) {
              const std::int64_t tall = rows[k].size;
              return Operands<T>{packed + k * tile_stride + deep.begin * tall, P * tall, nullptr, all, nullptr, 0};
            };
          },
          [=, this](std::int64_t piece) {
            const std::int64_t b = piece / parts, stride = dgates_.chunk_stride();
            const T* slabs = dgates_.at(b, 0) + (piece_rows(piece).begin - dgates_.rows(b).begin) * P;
            return [=](std::int64_t panel) { return slabs + panel * stride; };
          },
          [=](std::int64_t piece) {
            const Block deep = piece_rows(piece);
            return [=](std::int64_t k, std::int64_t part, std::int64_t all) {
              const std::int64_t tall = rows[k].size, each = blocks(deep.size * tall, all);
              fetch_lines(packed + k * tile_stride + deep.begin * tall + part * each, each);
            };
          },
          [=, this](std::int64_t k, std::int64_t panel) {
            const std::int64_t gate = panel / panels_, column_of_gate = panel % panels_ * P;
            return Output<T, S>{w_grad + (column + rows[k].begin) * G + gate * c.H + column_of_gate, G,
                                std::min(P, c.H - column_of_gate)};
          });
    }
  }

  // x_grad = dgates W_x^T, and zeros from step S on.
  void input_gradient(Member& member) const {
    const Range zeros = member.share((c.T - c.S) * c.B * c.I);
    std::fill_n(c.x_grad + c.S * c.B * c.I + zeros.begin, zeros.end - zeros.begin, S(0.0f));
    if (c.I == 0) return;
    T* const partials = partials_ + member.index() * kTilesPerBlock * kPanelsPerGroup * kTileRows * P;
    const std::int64_t pieces = blocks(dgates_.chunks(), kDepth / P), stride = dgates_.chunk_stride();
    const Blocks chunks(dgates_.chunks(), pieces);
    for (std::int64_t b = 0; b < dgates_.blocks(); ++b) {
      const Block all = dgates_.rows(b);
      const Range range = member.share(all.size);
      const std::int64_t total = range.end - range.begin;
      const std::int64_t count = blocks(blocks(total, kTileRows), kTilesPerBlock);
      for (std::int64_t index = 0; index < count; ++index) {
        const Block own = block(total, count, index);
        const std::int64_t first = range.begin + own.begin, tiles = blocks(own.size, kTileRows);
        const Blocks rows(own.size, tiles);
        const T* const gradients = dgates_.at(b, 0) + first * P;
        multiply_block<Layout::kAcross, T>(
            rows, tiles, blocks(c.I, P), pieces, partials,
            [=, this](std::int64_t piece) {
              const Block deep = chunks[piece];
              const Depth depth{deep.begin, deep.end(), dgates_.panels(), dgates_.tail()};
              return [=](std::int64_t k) {
                return Operands<T>{
                    gradients + deep.begin * stride + rows[k].begin * P, stride, nullptr, depth, nullptr, 0};
              };
            },
            [=, this](std::int64_t piece) {
              const T* slabs = weights_.slab(0, chunks[piece].begin);
              const std::int64_t panel_stride = weights_.depth() * P;
              return [=](std::int64_t panel) { return slabs + panel * panel_stride; };
            },
            [=](std::int64_t piece) {
              const Block deep = chunks[piece];
              return [=](std::int64_t k, std::int64_t part, std::int64_t parts) {
                const std::int64_t each = blocks(deep.size, parts), from = std::min(deep.size, part * each);
                for (std::int64_t chunk = from; chunk < std::min(deep.size, from + each); ++chunk) {
                  fetch_lines(gradients + (deep.begin + chunk) * stride + rows[k].begin * P, rows[k].size * P);
                }
              };
            },
            [=, this](std::int64_t k, std::int64_t panel) {
              return Output<T, S>{c.x_grad + (all.begin + first + rows[k].begin) * c.I + panel * P, c.I,
                                  std::min(P, c.I - panel * P)};
            });
      }
    }
  }

  void clear(const Member& member) const {
    const auto zero = [&](S* to, std::int64_t count) {
      const Range range = member.share(count);
      std::fill_n(to + range.begin, range.end - range.begin, S(0.0f));
    };
    zero(c.x_grad, c.T * c.B * c.I);
    zero(c.w_grad, (c.I + c.H) * 4 * c.H);
    zero(c.b_grad, 4 * c.H);
    for (S* state : {c.cs_prev_grad, c.h_prev_grad}) zero(state, c.B * c.H);
    for (S* sum : {c.wci_grad, c.wcf_grad, c.wco_grad}) zero(sum, c.H);
  }

  const BlockLstmGradV2Call<S>& c;
  int threads_;
  GateGradients<T> dgates_;
  std::int64_t panels_;
  T *dcs_, *dh_;        // of the states before the step at hand, in panels
  T* sums_;             // [panel][7][column]: b_grad of each gate, wci_grad, wcf_grad, wco_grad
  Weights<T> weights_;  // W_h, later W_x
  T* rows_;             // for each member a block of [x, h before]^T
  T* partials_;
};

void block_lstm_grad_v2(const BlockLstmGradV2Call<float>& call, Workspace& workspace) {
  BlockLstmGrad<float> op(call, workspace);
  if (!workspace.counts_only()) op.run();
}
void block_lstm_grad_v2(const BlockLstmGradV2Call<Half>& call, Workspace& workspace) {
  BlockLstmGrad<Half> op(call, workspace);
  if (!workspace.counts_only()) op.run();
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {

template <class S>
void block_lstm_grad_v2(const BlockLstmGradV2Call<S>& call, Workspace& workspace) {
  BACKGAUGE_ON_PATH(block_lstm_grad_v2(call, workspace));
}

template void block_lstm_grad_v2(const BlockLstmGradV2Call<Half>&, Workspace&);
template void block_lstm_grad_v2(const BlockLstmGradV2Call<float>&, Workspace&);

}  // namespace backgauge::cpu
#endif
