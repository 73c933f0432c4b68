// SPDX-License-Identifier: Apache-2.0
// BlockLSTMGradV2. Only dgates W_h^T is serial: a step is that product and the pointwise part of each panel of the
// state, with one wait. dgates of all steps are kept, and x_grad and w_grad follow as products over all S * B rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/ops/block_lstm_grad_v2.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include "impl/cpu/amx/products-inl.h"
#include "impl/cpu/kernels/gradients-inl.h"
#include "impl/cpu/machine/caches.h"
#include "impl/cpu/ops/lstm-inl.h"
#include "impl/cpu/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

template <class S>
class BlockLstmGrad {
  using T = Compute<S>;
  using Amx = AmxProducts<T>;
  static constexpr std::int64_t P = kPanel<T>, L = kLanes<T>;

 public:
  BlockLstmGrad(const BlockLstmGradV2Call<S>& call, Workspace& workspace)
      : c(call),
        threads_(
            team_size(c.num_threads,
                      4.0 * static_cast<double>(c.S * c.B) * static_cast<double>(c.H) * static_cast<double>(c.I + c.H),
                      kWorkPerThread)),
        dgates_(c.S, c.B, 4, c.H, P),
        amx_(workspace, threads_, dgates_, 4, c.H, c.S, c.B, c.I),
        panels_(blocks(c.H, P)),
        dcs_(workspace.take<T>({panels_, c.B, P})),
        dh_(workspace.take<T>({panels_, c.B, P})),
        sums_(workspace.take<T>({panels_, 7, P})),
        weights_{workspace.take<T>(
                     {std::max(amx_.use().serial ? 0 : panels_, amx_.use().weights ? 0 : blocks(c.I, P)), 4, c.H, P}),
                 4, c.H},
        scratch_(workspace, threads_, amx_.use().inputs ? 0 : c.S * c.B) {
    dgates_.take(workspace);
  }

  void run() {
    run_team(threads_, [this](Member& member) HWY_ATTR {
      if (c.S == 0) return clear(member);
      const auto tiles = amx_.configured();
      pack(member, c.w + c.I * 4 * c.H, c.H, amx_.use().serial);
      amx_.clear_steps(member);
      member.wait();
      c.peephole ? go_back<true>(member) : go_back<false>(member);
      weight_gradient(member);
      hwy::FlushStream();
      member.wait();  // until no member needs W_h any more
      pack(member, c.w, c.I, amx_.use().weights);
      member.wait();
      input_gradient(member);
    });
  }

 private:
  // Packs `rows` rows of w as weights with that many columns.
  void pack(const Member& member, const S* w, std::int64_t rows, bool in_tiles) const {
    const std::int64_t G = 4 * c.H;
    if (in_tiles) {
      return amx_.pack_weights(member, rows, 1, G, [=, this](std::int64_t gate) { return w + gate * c.H; });
    }
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
    const StateProduct<T> product(dgates_, weights_, c.B, wide_panels<T>(c.H));
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) pointwise<kPeephole>(panel, c.S - 1);
    if (amx_.use().serial) return go_back_in_tiles<kPeephole>(member, own);
    for (std::int64_t t = c.S - 1; t > 0; --t) {
      member.wait();
      product.run(
          dgates_.step(t), own, t % 2 == 0, dh_, false,
          [=, this](std::int64_t panel) HWY_ATTR { return reads<kPeephole>(panel, t - 1); },
          [=, this](std::int64_t panel) HWY_ATTR { pointwise<kPeephole>(panel, t - 1); });
    }
    member.wait();
    product.run(
        dgates_.step(0), own, true, dh_, false, [](std::int64_t) { return PrefetchQueue(); },
        [=, this](std::int64_t panel) HWY_ATTR { store_panel(panel); });
  }

  template <bool kPeephole>
  void go_back_in_tiles(Member& member, const Range& own) const {
    for (std::int64_t panel = own.begin; panel < own.end; ++panel) amx_.pack_step(c.S - 1, panel);
    for (std::int64_t t = c.S - 1; t > 0; --t) {
      member.wait();
      amx_.multiply_step(
          member, t, own, t % 2 == 0, dh_, false,
          [=, this](std::int64_t panel) HWY_ATTR { return reads<kPeephole>(panel, t - 1); },
          [=, this](std::int64_t panel) HWY_ATTR {
            pointwise<kPeephole>(panel, t - 1);
            amx_.pack_step(t - 1, panel);
          });
    }
    member.wait();
    amx_.multiply_step(
        member, 0, own, true, dh_, false, [](std::int64_t) { return PrefetchQueue(); },
        [=, this](std::int64_t panel) HWY_ATTR { store_panel(panel); });
  }

  const S* cs_before(std::int64_t t) const { return t == 0 ? c.cs_prev : c.cs + (t - 1) * c.B * c.H; }

  // Prefetches what pointwise() will read and write.
  template <bool kPeephole>
  HWY_INLINE PrefetchQueue reads(std::int64_t panel, std::int64_t t) const {
    const std::int64_t at = t * c.B * c.H + panel * P;
    PrefetchQueue queue(c.B, P * sizeof(T));
    queue.add(cs_before(t) + panel * P, c.H);
    for (const S* input : {c.i, c.f, c.o, c.ci, c.co, c.cs_grad, c.h_grad}) queue.add(input + at, c.H);
    if constexpr (kPeephole) queue.add(c.cs + at, c.H);
    for (std::int64_t gate = 0; gate < 4; ++gate) {
      queue.add(dgates_.step(t) + (gate * panels_ + panel) * dgates_.chunk_stride(), P);
    }
    return queue;
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

  // Sums of b_grad and of the peepholes' gradients stay in registers during the loop over rows.
  template <bool kPeephole, bool kPart>
  void pointwise_rows(std::int64_t panel, std::int64_t t) const {
    const Tag<T> d;
    const std::int64_t H = c.H, B = c.B, at = t * B * H + panel * P, live = H - panel * P;
    const std::int64_t gate = dgates_.panels() * dgates_.chunk_stride();
    const S *const all_before = cs_before(t) + panel * P, *const all_cs = c.cs + at, *const i = c.i + at,
                   *const f = c.f + at, *const o = c.o + at, *const ci = c.ci + at, *const co = c.co + at,
                   *const cs_grad = c.cs_grad + at, *const h_grad = c.h_grad + at;
    for (std::int64_t lane = 0; lane < P; lane += L) {
      const auto get = [=](const S* from) HWY_ATTR {
        return load_live<kPart>(d, from + lane, std::clamp(live - lane, std::int64_t{0}, L));
      };
      const Vector<T> zero = hn::Zero(d), wci = kPeephole ? get(c.wci + panel * P) : zero,
                      wcf = kPeephole ? get(c.wcf + panel * P) : zero, wco = kPeephole ? get(c.wco + panel * P) : zero;
      T* const sums = sums_ + panel * 7 * P + lane;
      const auto sum = [=](std::int64_t which) HWY_ATTR { return load(d, sums + which * P); };
      Vector<T> b_i = sum(0), b_f = sum(1), b_ci = sum(2), b_o = sum(3);
      [[maybe_unused]] Vector<T> wci_grad = zero, wcf_grad = zero, wco_grad = zero;
      if constexpr (kPeephole) wci_grad = sum(4), wcf_grad = sum(5), wco_grad = sum(6);
      T *dcs = dcs_ + panel * B * P + lane, *dh = dh_ + panel * B * P + lane,
        *out = dgates_.step(t) + panel * dgates_.chunk_stride() + lane;
      for (std::int64_t row = 0, k = 0; row < B; ++row, k += H, dcs += P, dh += P, out += P) {
        const Vector<T> before = get(all_before + k);
        const LstmGradients<Vector<T>> g = lstm_gradients<kPeephole>(
            before, get(i + k), get(f + k), get(o + k), get(ci + k), get(co + k),
            hn::Add(load(d, dcs), get(cs_grad + k)), hn::Add(load(d, dh), get(h_grad + k)), wci, wcf, wco);
        store(d, g.cs_prev, dcs);
        store(d, g.i, out);
        store(d, g.f, out + gate);
        store(d, g.ci, out + 2 * gate);
        store(d, g.o, out + 3 * gate);
        b_i = hn::Add(b_i, g.i);
        b_f = hn::Add(b_f, g.f);
        b_ci = hn::Add(b_ci, g.ci);
        b_o = hn::Add(b_o, g.o);
        if constexpr (kPeephole) {
          wci_grad = hn::MulAdd(g.i, before, wci_grad);
          wcf_grad = hn::MulAdd(g.f, before, wcf_grad);
          wco_grad = hn::MulAdd(g.o, get(all_cs + k), wco_grad);
        }
      }
      const auto keep = [=](std::int64_t which, Vector<T> value) HWY_ATTR { store(d, value, sums + which * P); };
      keep(0, b_i);
      keep(1, b_f);
      keep(2, b_ci);
      keep(3, b_o);
      if constexpr (kPeephole) {
        keep(4, wci_grad);
        keep(5, wcf_grad);
        keep(6, wco_grad);
      }
    }
  }

  // Called once the state before the first step is complete.
  void store_panel(std::int64_t panel) const {
    const auto store_rows = [=, this](const T* from, std::int64_t rows, S* to) HWY_ATTR {
      store_columns(from, rows, std::min(P, c.H - panel * P), to + panel * P, c.H);
    };
    store_rows(dh_ + panel * c.B * P, c.B, c.h_prev_grad);
    store_rows(dcs_ + panel * c.B * P, c.B, c.cs_prev_grad);
    const T* sums = sums_ + panel * 7 * P;
    store_rows(sums, 4, c.b_grad);
    store_rows(sums + 4 * P, 1, c.wci_grad);
    store_rows(sums + 5 * P, 1, c.wcf_grad);
    store_rows(sums + 6 * P, 1, c.wco_grad);
  }

  // w_grad = [x, h before]^T dgates.
  void weight_gradient(Member& member) const {
    const std::int64_t rows = c.S * c.B, B = c.B, I = c.I, H = c.H;
    const Range range = member.share(I + H);
    // An output too large to stay in the core's caches is written without reading its lines first.
    const bool streams = std::is_same_v<S, T> && H % L == 0 &&
                         (I + H) * 4 * H * static_cast<std::int64_t>(sizeof(S)) > second_level_cache() &&
                         reinterpret_cast<std::uintptr_t>(c.w_grad) % (L * sizeof(S)) == 0;
    const auto output = [=, this](std::int64_t row, std::int64_t chunk) {
      const std::int64_t gate = chunk / panels_, column = chunk % panels_ * P;
      return Output<T, S>{c.w_grad + (row * 4 + gate) * H + column, 4 * H, std::min(P, H - column), false, streams};
    };
    const auto output_of_states = [=](std::int64_t row, std::int64_t chunk) { return output(I + row, chunk); };
    const Rows<S> x{c.x, I, rows}, h_first{c.h_prev, H, B}, h{c.h, H, rows - B};
    if (amx_.use().inputs) {
      member.wait();  // until no member needs W_h any more
      amx_.pack_gradients(member);
      member.wait();
      amx_.multiply_inputs(member, I, x, x, 0, dgates_.chunks(), output);
      return amx_.multiply_inputs(member, H, h_first, h, 0, dgates_.chunks(), output_of_states);
    }
    multiply_inputs<S, T>(member, {std::min(range.begin, I), std::min(range.end, I)}, x, {c.x, I, 0}, dgates_, 0,
                          dgates_.chunks(), scratch_, output);
    multiply_inputs<S, T>(member, {std::max(range.begin, I) - I, std::max(range.end, I) - I}, h_first, h, dgates_, 0,
                          dgates_.chunks(), scratch_, output_of_states);
  }

  // x_grad = dgates W_x^T, and zeros from step S on.
  void input_gradient(const Member& member) const {
    fill_zero(member, (c.T - c.S) * c.B * c.I, c.x_grad + c.S * c.B * c.I);
    const auto output = [=, this](std::int64_t row, std::int64_t panel) {
      return Output<T, S>{c.x_grad + row * c.I + panel * P, c.I, std::min(P, c.I - panel * P)};
    };
    if (amx_.use().weights) return amx_.multiply_weights(member, 0, c.I, output);
    multiply_weights(member, dgates_, 0, weights_, c.I, scratch_, output);
  }

  void clear(const Member& member) const {
    fill_zero(member, c.T * c.B * c.I, c.x_grad);
    fill_zero(member, (c.I + c.H) * 4 * c.H, c.w_grad);
    fill_zero(member, 4 * c.H, c.b_grad);
    for (S* state : {c.cs_prev_grad, c.h_prev_grad}) fill_zero(member, c.B * c.H, state);
    for (S* sum : {c.wci_grad, c.wcf_grad, c.wco_grad}) fill_zero(member, c.H, sum);
  }

  const BlockLstmGradV2Call<S>& c;
  int threads_;
  StepPanels<T> dgates_;
  Amx amx_;
  std::int64_t panels_;
  T *dcs_, *dh_;        // gradients of the states before the current step, in panels
  T* sums_;             // [panel][7][column]: b_grad of each gate, wci_grad, wcf_grad, wco_grad
  Weights<T> weights_;  // W_h, later W_x
  ProductScratch<T> scratch_;
};

template <class S>
void block_lstm_grad_v2(const BlockLstmGradV2Call<S>& call, Workspace& workspace) {
  BlockLstmGrad<S> op(call, workspace);
  if (!workspace.counts_only()) op.run();
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {
BACKGAUGE_OP_ON_PATH(block_lstm_grad_v2, BlockLstmGradV2Call)
}  // namespace backgauge::cpu
#endif
