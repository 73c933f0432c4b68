// SPDX-License-Identifier: Apache-2.0
// An LSTM over a sequence, gates i,f,c,o, forward and backward, over any arithmetic. Equation numbers: block_lstm.md.
// Steps are vectors of [B, .] matrices of length S: what lies beyond seq_len_max does not exist here.
#pragma once

#include <vector>

#include "reference/equations/lstm_cell.h"

namespace backgauge::equations {

template <class M>
struct BlockLstmSequence {
  std::vector<M> x;                 // [B, I]
  std::vector<LstmSaved<M>> saved;  // [B, H]
  std::vector<M> h;                 // [B, H]; backward: h[S-1] is not needed and may be missing
  M cs_prev, h_prev;                // [B, H] before the first step
};

template <class M>
struct BlockLstmGradients {
  std::vector<M> x;   // [B, I] per step
  M cs_prev, h_prev;  // [B, H]
  M w;                // [I + H, 4H]
  M wci, wcf, wco;    // [1, H]; set with peepholes only
  M b;                // [1, 4H]
};

// On input x, cs_prev and h_prev of `sequence`. On output its saved and h. w [I + H, 4H], b [1, 4H].
template <class A, class M = typename A::Matrix>
void block_lstm_forward(const A& a, BlockLstmSequence<M>& sequence, const M& w, const M& b, const Peepholes<M>* p,
                        double cell_clip) {
  const auto B = sequence.cs_prev.rows(), H = sequence.cs_prev.cols();
  const M ones = a.ones(B, 1);
  const M w_and_b = a.below({&w, &b});
  for (std::size_t t = 0; t < sequence.x.size(); ++t) {
    const M& h_prev = t == 0 ? sequence.h_prev : sequence.h[t - 1];
    const M& cs_prev = t == 0 ? sequence.cs_prev : sequence.saved[t - 1].cs;
    const M g = a.matmul(a.beside({&sequence.x[t], &h_prev, &ones}), w_and_b);  // (1)
    const LstmGates<M> gates{
        .i = a.columns(g, 0, H), .ci = a.columns(g, 2 * H, H), .f = a.columns(g, H, H), .o = a.columns(g, 3 * H, H)};
    sequence.saved.push_back(lstm_cell_forward(a, gates, cs_prev, p, cell_clip));
    sequence.h.push_back(a.product(sequence.saved.back().o, sequence.saved.back().co));  // (2)
  }
}

// On input the sequence with S >= 1 steps and, per step, the gradients of the loss with respect to cs[t] and h[t].
template <class A, class M = typename A::Matrix>
BlockLstmGradients<M> block_lstm_backward(const A& a, const BlockLstmSequence<M>& sequence, const M& w,
                                          const Peepholes<M>* p, const std::vector<M>& cs_grad,
                                          const std::vector<M>& h_grad) {
  const auto B = sequence.cs_prev.rows(), H = sequence.cs_prev.cols(), I = w.rows() - H;
  const std::size_t S = sequence.saved.size();
  const M x_weights = a.transpose(a.rows(w, 0, I));  // [4H, I]
  const M h_weights = a.transpose(a.rows(w, I, H));  // [4H, H]

  std::vector<M> dgates(S), xh(S), di_cp(S), df_cp(S), do_cs(S);
  M cs_carry = a.zeros(B, H);
  for (std::size_t t = S; t-- > 0;) {
    const M& cs_prev = t == 0 ? sequence.cs_prev : sequence.saved[t - 1].cs;
    const M& h_prev = t == 0 ? sequence.h_prev : sequence.h[t - 1];
    const M cs_total = a.carried(a.sum(cs_carry, cs_grad[t]));  // (3)
    const M h_total = t + 1 == S ? h_grad[t]                    // (4)
                                 : a.carried(a.add_matmul(h_grad[t], dgates[t + 1], h_weights));
    const LstmCellGradients<M> d = lstm_cell_backward(a, sequence.saved[t], cs_prev, cs_total, h_total, p);  // (5)
    dgates[t] = a.beside({&d.gates.i, &d.gates.f, &d.gates.ci, &d.gates.o});                                 // (6)
    cs_carry = a.carried(d.cs_prev);
    xh[t] = a.beside({&sequence.x[t], &h_prev});
    if (p) {
      di_cp[t] = a.product(d.gates.i, cs_prev);
      df_cp[t] = a.product(d.gates.f, cs_prev);
      do_cs[t] = a.product(d.gates.o, sequence.saved[t].cs);
    }
  }

  const auto all_rows = [&a](const std::vector<M>& steps) {
    std::vector<const M*> parts;
    for (const M& step : steps) parts.push_back(&step);
    return a.below(parts);
  };
  BlockLstmGradients<M> out;
  for (std::size_t t = 0; t < S; ++t) out.x.push_back(a.matmul(dgates[t], x_weights));  // (7)
  out.cs_prev = cs_carry;
  out.h_prev = a.matmul(dgates[0], h_weights);               // (8)
  const M dgates_rows = all_rows(dgates);                    // [S*B, 4H]
  out.w = a.matmul(a.transpose(all_rows(xh)), dgates_rows);  // (9)
  out.b = a.column_sums(dgates_rows);                        // (10)
  if (p) {
    out.wci = a.column_sums(all_rows(di_cp));  // (11)
    out.wcf = a.column_sums(all_rows(df_cp));
    out.wco = a.column_sums(all_rows(do_cs));
  }
  return out;
}

}  // namespace backgauge::equations
