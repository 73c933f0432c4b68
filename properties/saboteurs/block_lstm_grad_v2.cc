// SPDX-License-Identifier: Apache-2.0
// BlockLSTMGradV2, reference/semantics.md section 2: gates in the order i, f, ci, o.
#include "properties/saboteurs/gates.h"
#include "properties/saboteurs/lstm_tensors.h"
#include "properties/saboteurs/ops.h"
#include "properties/saboteurs/rows.h"

namespace backgauge::saboteurs {
namespace {

using Index = std::int64_t;

// How many steps are processed: seq_len_max, unless the variant has a fault that changes it.
Index steps_taken(const Context& context) {
  const auto& [T, S] = std::pair{context.extents.T, context.extents.S};
  switch (context.variant.fault) {
    case Fault::kC2:
    case Fault::kC5: return T;
    case Fault::kC3: return 1 < S && S < T ? S - 1 : S;
    case Fault::kC3b: return S < T ? S + 1 : S;
    case Fault::kC7: return S == 0 && T > 0 ? 1 : S;
    case Fault::kC14:
      return std::min(T, of_first_call(context, {context.extents.B, context.extents.I, context.extents.H}, S));
    default: return S;
  }
}

template <class Real>
class BlockLstm {
 public:
  explicit BlockLstm(const Context& context) : context_(context) {}

  void compute() {
    if (work_.is(Fault::kH16) && B_ < context_.call.num_threads) return;
    if (work_.is(Fault::kC6) && S_ == 0) return;
    if (work_.is(Fault::kI16)) {
      const std::vector<Real> scratch = kept<Real>(context_, h_carry_.size());
      if (!scratch.empty()) h_carry_ = scratch;
    }
    const Index last = work_.is(Fault::kB10) ? S_ - 2 : S_ - 1, first = work_.is(Fault::kB10b) ? 1 : 0;
    std::vector<Real> h_older(B_ * H_);  // one step older than h_carry_
    for (Index t = last; t >= first; --t) {
      stand_in_outputs();
      const std::vector<Real> h_carry = h_carry_;
      if (work_.is(Fault::kB7)) h_carry_ = h_older;
      for (Index b = 0; b < examples_; ++b) {
        for (Index j = 0; j < H_; ++j) element(t, b, j);
      }
      for (Index b = 0; b < examples_; ++b) through_weights(t, b);
      h_older = h_carry;
    }
    if (work_.is(Fault::kI16)) keep(context_, h_carry_);
    if (work_.is(Fault::kH22)) tensors_.change_input("cs_grad");
    write();
  }

 private:
  // The row of step t and example b, as read by the operand whose index sites are `step` and `example`.
  Index row(Site step, Site example, Index t, Index b) const {
    return work_.index(step, t, S_) * B_ + work_.index(example, b, B_);
  }

  void stand_in_outputs() {
    if (!work_.in_place()) return;
    tensors_.write("cs_prev_grad", cs_carry_);
    tensors_.write("h_prev_grad", h_carry_);
    cs_carry_ = tensors_.standing("cs_prev_grad");
    h_carry_ = tensors_.standing("h_prev_grad");
  }

  // An upstream gradient, or 0 where a fault ignores it.
  Real upstream(Site site, const std::vector<Real>& values, Index t, Index b, Index j, Fault only_last) const {
    const bool last = t == S_ - 1;
    if (work_.is(only_last) && !last) return 0;
    const Index at = work_.is(Fault::kC13) ? b * T_ + t : row(Site::k_upstream_step, Site::k_upstream_row, t, b);
    return lstm_.at(site, values, at, j);
  }

  void element(Index t, Index b, Index j) {
    const Index k = b * H_ + j, unit = lstm_.computed(j);
    const Index saved_row = row(Site::k_saved_step, Site::k_saved_row, t, b);
    const Index before_row = row(Site::k_before_step, Site::k_before_row, t, b);
    LstmElement<Real> e = before_row < B_ ? lstm_.element(saved_row, cs_prev_, before_row, unit)
                                          : lstm_.element(saved_row, lstm_.cs(), before_row - B_, unit);
    const bool dropped = work_.is(Fault::kB1) && t == S_ - 1;
    const Real cs_grad = dropped ? 0 : upstream(Site::k_cs_grad_index, cs_grad_, t, b, unit, Fault::kB2);
    const Real h_grad = upstream(Site::k_h_grad_index, h_grad_, t, b, unit, Fault::kB3);
    e.cs_grad = work_.sum(Site::k_cs_total, {cs_grad, work_.is(Fault::kB6) ? 0 : cs_carry_[b * H_ + unit]});
    e.h_grad = work_.sum(Site::k_h_total, {h_grad, h_carry_[b * H_ + unit]});

    const Peepholes<Real> peepholes = lstm_.peepholes(unit);
    LstmGradient<Real> d = lstm_cell_backward(work_, e, use_peephole_ ? &peepholes : nullptr);
    if (lstm_.left_out(j)) d = {};
    if (work_.is(Fault::kC5)) {
      const Real counts = t < context_.extents.S ? 1 : 0;
      for (Real* each : {&d.i, &d.f, &d.ci, &d.o, &d.cs_prev}) *each *= counts;
    }
    Real* gates = &dgates_[(t * B_ + b) * gates_.stride()];
    const Real of_blocks[] = {d.i, d.f, d.ci, d.o};
    for (Index g = 0; g < 4; ++g)
      gates[gates_.at(work_.index(Site::k_gate_block, g, 4), j)] = work_.saved(of_blocks[g]);
    cs_carry_[k] = work_.carried(d.cs_prev);
  }

  Real gate(Index row, Index place) const { return dgates_[gates_.index(row * gates_.stride() + place)]; }

  Real weight(Site row_site, Site column_site, Index r, Index column) const {
    const Index rows = I_ + H_, columns = 4 * H_;
    const Index from_row = work_.index(row_site, r, rows), from_column = work_.index(column_site, column, columns);
    if (work_.is(Fault::kD18) && rows == columns) return w_[from_column * columns + from_row];
    return w_[from_row * columns + from_column];
  }

  // [x_grad, h_prev_grad] of one row: the gradients of its gates times w^T.
  void through_weights(Index t, Index b) {
    const Index row = t * B_ + b;
    const auto gates = [&](Index k) { return gate(row, k); };
    for (Index c = 0; c < I_; ++c) {
      x_grad_[row * I_ + c] = work_.dot(Site::k_x_grad, 4 * H_, gates, [&](Index k) {
        return weight(Site::k_x_weight_row, Site::k_x_weight_column, c, gates_.column(k));
      });
    }
    const bool short_sum = work_.is(Fault::kI7) && 4 * H_ % 32 == 0;
    for (Index j = 0; j < H_; ++j) {
      const Real sum = work_.dot(Site::k_h_prev_grad, short_sum ? 4 * H_ - 1 : 4 * H_, gates, [&](Index k) {
        return weight(Site::k_h_weight_row, Site::k_h_weight_column, I_ + j, gates_.column(k));
      });
      h_carry_[b * H_ + j] = work_.carried(sum);
    }
  }

  // Element c of the input of a row.
  Real x_at(Index row, Index c) const {
    const Index from = work_.index(Site::k_x_row, row, S_ * B_), column = work_.index(Site::k_x_column, c, I_);
    if (work_.is(Fault::kH15)) return x_[(from * H_ + column) % (T_ * B_ * I_)];
    return x_[from * I_ + column];
  }

  // Unit j of the state before the step of a row.
  Real h_before(Index row, Index j) const {
    const Index from = work_.index(Site::k_h_row, row, S_ * B_), unit = work_.index(Site::k_h_column, j, H_);
    if (work_.is(Fault::kB14)) return h_[from * H_ + unit];
    if (from >= B_) return h_[(from - B_) * H_ + unit];
    return work_.is(Fault::kD2) ? 0 : h_prev_[from * H_ + unit];
  }

  std::vector<Real> weight_gradient() const {
    const RowSums<Real> sums(context_, work_, Sum::kWeights, S_, B_);
    const Index columns = 4 * H_;
    std::vector<Real> out((I_ + H_) * columns);
    for (Index r = 0; r < I_ + H_; ++r) {
      for (Index c = 0; c < columns; ++c) {
        Index from_row = r, from_column = c;
        if (work_.is(Fault::kD17) && r >= I_) {
          from_row = I_ + c % H_;
          from_column = c / H_ * H_ + (r - I_);
        }
        const Index place = gates_.place(work_.index(Site::k_w_grad_column, from_column, columns));
        const auto gates = [&](Index row) { return gate(row, place); };
        if (r >= I_) {
          out[r * columns + c] = sums.products(
              Site::k_w_grad_h, [&](Index row) { return h_before(sums.state_row(row), from_row - I_); }, gates);
        } else if (!(work_.is(Fault::kD19) && B_ == 1)) {
          out[r * columns + c] = sums.products(
              Site::k_w_grad_x, [&](Index row) { return x_at(row, r); }, gates);
        }
      }
    }
    return out;
  }

  std::vector<Real> bias_gradient() const {
    const RowSums<Real> sums(context_, work_, Sum::kBiases, S_, B_);
    std::vector<Real> out(4 * H_);
    for (Index c = 0; c < 4 * H_; ++c) {
      const bool of_i_or_o = c < H_ || c >= 3 * H_;
      const Index from = work_.is(Fault::kA13) && of_i_or_o ? H_ + c % H_ : c;
      const Index place = gates_.place(work_.index(Site::k_b_grad_column, from, 4 * H_));
      out[c] = sums.total(Site::k_b_grad, [&](Index row) { return gate(row, place); });
    }
    return out;
  }

  // The gradient of the peephole of gate block g, which reads the state before the step or, for o, after it.
  std::vector<Real> peephole_gradient(Site site, Index g) const {
    std::vector<Real> out(H_);
    if (!use_peephole_) return out;
    const RowSums<Real> sums(context_, work_, Sum::kPeepholes, S_, B_);
    const bool after = g == 3 ? !work_.is(Fault::kA6) : work_.is(Fault::kA7);
    for (Index j = 0; j < H_; ++j) {
      const Index place = gates_.place(g * H_ + j);
      out[j] = sums.total(Site::k_peephole_sum, [&](Index row) {
        const Index from = sums.state_row(row);
        const Real state = after       ? lstm_.at(Site::k_cs_index, lstm_.cs(), from, j)
                           : from < B_ ? lstm_.at(Site::k_cs_prev_index, cs_prev_, from, j)
                                       : lstm_.at(Site::k_cs_prev_index, lstm_.cs(), from - B_, j);
        return work_.product(site, {gate(row, place), state});
      });
    }
    return out;
  }

  void write() {
    std::vector<Real> w_grad = weight_gradient(), b_grad = bias_gradient();
    if (work_.is(Fault::kD6)) {
      const std::vector<Real> w_before = tensors_.standing("w_grad"), b_before = tensors_.standing("b_grad");
      for (std::size_t k = 0; k < w_grad.size(); ++k) w_grad[k] += w_before[k];
      for (std::size_t k = 0; k < b_grad.size(); ++k) b_grad[k] += b_before[k];
    }
    for (Index k = 0; k < B_ * H_ && work_.is(Fault::kB9) && S_ > 0; ++k) h_carry_[k] += h_grad_[k];
    std::vector<bool> written(x_grad_.size());
    for (Index k = 0; k < T_ * B_ * I_; ++k) {
      const bool skipped_tail = work_.is(Fault::kC1) && k >= S_ * B_ * I_;
      const bool skipped_column = work_.is(Fault::kI3) && I_ % 4 == 3 && k % I_ == I_ - 1;
      written[k] = !skipped_tail && !skipped_column;
    }
    tensors_.write("x_grad", x_grad_, written);
    tensors_.write("cs_prev_grad", cs_carry_);
    tensors_.write("h_prev_grad", h_carry_);
    tensors_.write("w_grad", w_grad);
    tensors_.write("b_grad", b_grad);
    write_peephole_gradients<Real>(tensors_, work_.fault(),
                                   {peephole_gradient(Site::k_wci_grad, 0), peephole_gradient(Site::k_wcf_grad, 1),
                                    peephole_gradient(Site::k_wco_grad, 3)});
  }

  using Values = std::vector<Real>;

  const Context& context_;
  const Work<Real> work_{context_.variant, context_.call.dtype};
  const Tensors<Real> tensors_{context_.variant, context_.call};
  const Index T_ = context_.extents.T, B_ = context_.extents.B, I_ = context_.extents.I, H_ = context_.extents.H;
  const Index S_ = steps_taken(context_);
  const bool use_peephole_ = has_peepholes(context_);
  const Index examples_ = examples_computed(context_, B_);
  const Gates<Real> gates_{work_, H_};
  const LstmTensors<Real> lstm_{work_, tensors_, H_};
  const Values x_ = tensors_.read("x"), w_ = tensors_.read("w"), h_ = tensors_.read("h");
  const Values cs_prev_ = tensors_.read("cs_prev"), h_prev_ = tensors_.read("h_prev");
  const Values cs_grad_ = tensors_.read("cs_grad"), h_grad_ = read_h_grad<Real>(context_, tensors_);
  Values dgates_ = Values(S_ * B_ * gates_.stride());  // for every row
  Values x_grad_ = Values(T_ * B_ * I_);               // for every row
  // dcs' and dh' of the next step; finally the gradients of the initial states
  Values cs_carry_ = Values(B_ * H_), h_carry_ = Values(B_ * H_);
};

}  // namespace

template <class Real>
void block_lstm_grad_v2(const Context& context) {
  BlockLstm<Real>(context).compute();
}

template void block_lstm_grad_v2<float>(const Context&);
template void block_lstm_grad_v2<double>(const Context&);

}  // namespace backgauge::saboteurs
