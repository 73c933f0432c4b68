// SPDX-License-Identifier: Apache-2.0
// The ops for one instruction set, in the structure of TensorFlow's kernels: every step concatenates x and h_prev,
// multiplies twice, and adds to w_grad in memory.
#include "impl/eigen/ops.h"

// Units compiled for different instruction sets must not share Eigen's inline functions, of which the linker keeps one
// each: every set has a namespace Eigen of its own.
#define BACKGAUGE_JOIN_(a, b) a##b
#define BACKGAUGE_JOIN(a, b) BACKGAUGE_JOIN_(a, b)
#define Eigen BACKGAUGE_JOIN(Eigen_, BACKGAUGE_EIGEN_SET)
#include <Eigen/Core>

namespace backgauge::eigen::BACKGAUGE_EIGEN_SET {
namespace {

using Index = Eigen::Index;

// What is stored, as Eigen computes in it: half is rounded after every operation, as TensorFlow does on a CPU.
template <class Storage>
struct ComputedAs {
  using Type = float;
};
template <>
struct ComputedAs<Half> {
  using Type = Eigen::half;
};

template <class Scalar>
using Array = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using Row = Eigen::Array<Scalar, 1, Eigen::Dynamic>;

template <class Storage>
using Scalar = typename ComputedAs<Storage>::Type;

// Views: [rows, columns], dense.
template <class Storage>
auto array(Storage* data, Index rows, Index columns) {
  return Eigen::Map<Array<Scalar<Storage>>>(reinterpret_cast<Scalar<Storage>*>(data), rows, columns);
}
template <class Storage>
auto array(const Storage* data, Index rows, Index columns) {
  return Eigen::Map<const Array<Scalar<Storage>>>(reinterpret_cast<const Scalar<Storage>*>(data), rows, columns);
}
template <class Storage>
auto row(Storage* data, Index columns) {
  return Eigen::Map<Row<Scalar<Storage>>>(reinterpret_cast<Scalar<Storage>*>(data), columns);
}
template <class Storage>
auto row(const Storage* data, Index columns) {
  return Eigen::Map<const Row<Scalar<Storage>>>(reinterpret_cast<const Scalar<Storage>*>(data), columns);
}

// sums[j] += terms[k, j] over all rows k, in their order. (Eigen 3.4 has no colwise().sum() of half.)
template <class Sums, class Terms>
void add_rows(Sums&& sums, const Terms& terms) {
  for (Index k = 0; k < terms.rows(); ++k) sums += terms.row(k);
}

// One LSTM step backward, reference/semantics.md 1.3, with a pass over memory for every line of it: gradients of the
// gates, [B, H] each. They keep their memory from step to step.
template <class Storage>
struct CellGradients {
  Array<Scalar<Storage>> o, cs, ci, f, i;

  // All tensors [B, H], the peephole weights [H] and read with peepholes only; cs_grad and h_grad are all that arrives.
  struct Step {
    Index B, H;
    const Storage *cs_prev, *i, *f, *o, *ci, *co, *wci, *wcf, *wco;
    bool peephole;
  };
  template <class Arrived>
  void compute(const Step& s, const Arrived& cs_grad, const Arrived& h_grad) {
    const Scalar<Storage> one(1.0f);
    const auto gate_i = array(s.i, s.B, s.H), gate_f = array(s.f, s.B, s.H), gate_o = array(s.o, s.B, s.H);
    const auto gate_ci = array(s.ci, s.B, s.H), gate_co = array(s.co, s.B, s.H), cs_prev = array(s.cs_prev, s.B, s.H);
    o = gate_o * (one - gate_o) * h_grad * gate_co;
    cs = (one - gate_co * gate_co) * h_grad * gate_o + cs_grad;
    if (s.peephole) cs += o.rowwise() * row(s.wco, s.H);
    ci = (one - gate_ci * gate_ci) * cs * gate_i;
    f = gate_f * (one - gate_f) * cs * cs_prev;
    i = gate_i * (one - gate_i) * cs * gate_ci;
  }

  // With respect to cs_prev, into an array that may have been cs_grad.
  template <class Out>
  void to_cs_prev(const Step& s, Out&& cs_prev_grad) const {
    cs_prev_grad = cs * array(s.f, s.B, s.H);
    if (s.peephole) {
      cs_prev_grad += i.rowwise() * row(s.wci, s.H);
      cs_prev_grad += f.rowwise() * row(s.wcf, s.H);
    }
  }
};

template <class S>
void lstm_block_cell_grad(const LstmBlockCellGradCall<S>& c) {
  const Index B = c.B, H = c.H;
  const typename CellGradients<S>::Step step{B,    H,    c.cs_prev, c.i,   c.f,   c.o,
                                             c.ci, c.co, c.wci,     c.wcf, c.wco, c.peephole};
  CellGradients<S> d;
  d.compute(step, array(c.cs_grad, B, H), array(c.h_grad, B, H));
  d.to_cs_prev(step, array(c.cs_prev_grad, B, H));
  auto gates = array(c.dicfo, B, 4 * H);
  gates.middleCols(0, H) = d.i;
  gates.middleCols(H, H) = d.ci;
  gates.middleCols(2 * H, H) = d.f;
  gates.middleCols(3 * H, H) = d.o;
  for (S* sum : {c.wci_grad, c.wcf_grad, c.wco_grad}) row(sum, H).setZero();
  if (c.peephole) {
    add_rows(row(c.wci_grad, H), d.i * array(c.cs_prev, B, H));
    add_rows(row(c.wcf_grad, H), d.f * array(c.cs_prev, B, H));
    add_rows(row(c.wco_grad, H), d.o * array(c.cs, B, H));
  }
}

template <class S>
void block_lstm_grad_v2(const BlockLstmGradV2Call<S>& c) {
  const Index B = c.B, I = c.I, H = c.H;
  auto cs_prev_grad = array(c.cs_prev_grad, B, H), h_prev_grad = array(c.h_prev_grad, B, H);
  auto w_grad = array(c.w_grad, I + H, 4 * H);
  auto b_grad = row(c.b_grad, 4 * H);
  const auto w = array(c.w, I + H, 4 * H);
  cs_prev_grad.setZero();
  h_prev_grad.setZero();
  w_grad.setZero();
  b_grad.setZero();
  for (S* sum : {c.wci_grad, c.wcf_grad, c.wco_grad}) row(sum, H).setZero();
  array(c.x_grad + c.S * B * I, (c.T - c.S) * B, I).setZero();

  CellGradients<S> d;
  Array<Scalar<S>> cs_grad(B, H), h_grad(B, H);
  Matrix<Scalar<S>> xh(B, I + H), gates(B, 4 * H), xh_grad(B, I + H);
  for (Index t = c.S - 1; t >= 0; --t) {
    const Index at = t * B * H;
    const S *cs_before = t == 0 ? c.cs_prev : c.cs + at - B * H, *h_before = t == 0 ? c.h_prev : c.h + at - B * H;
    const typename CellGradients<S>::Step step{B,         H,         cs_before, c.i + at, c.f + at, c.o + at,
                                               c.ci + at, c.co + at, c.wci,     c.wcf,    c.wco,    c.peephole};
    xh.leftCols(I) = array(c.x + t * B * I, B, I).matrix();
    xh.rightCols(H) = array(h_before, B, H).matrix();
    cs_grad = cs_prev_grad + array(c.cs_grad + at, B, H);
    h_grad = h_prev_grad + array(c.h_grad + at, B, H);
    d.compute(step, cs_grad, h_grad);
    gates.middleCols(0, H) = d.i.matrix();
    gates.middleCols(H, H) = d.f.matrix();
    gates.middleCols(2 * H, H) = d.ci.matrix();
    gates.middleCols(3 * H, H) = d.o.matrix();
    d.to_cs_prev(step, cs_prev_grad);
    xh_grad.noalias() = gates * w.matrix().transpose();
    array(c.x_grad + t * B * I, B, I) = xh_grad.leftCols(I).array();
    h_prev_grad = xh_grad.rightCols(H).array();
    w_grad.matrix().noalias() += xh.transpose() * gates;
    add_rows(b_grad, gates.array());
    if (c.peephole) {
      add_rows(row(c.wci_grad, H), d.i * array(cs_before, B, H));
      add_rows(row(c.wcf_grad, H), d.f * array(cs_before, B, H));
      add_rows(row(c.wco_grad, H), d.o * array(c.cs + at, B, H));
    }
  }
}

}  // namespace

extern constexpr Ops ops = {lstm_block_cell_grad<Half>, lstm_block_cell_grad<float>, block_lstm_grad_v2<Half>,
                            block_lstm_grad_v2<float>};

}  // namespace backgauge::eigen::BACKGAUGE_EIGEN_SET
