// SPDX-License-Identifier: Apache-2.0
// The inputs that both LSTM ops read unit by unit, and the faults of vector code that both can have.
#pragma once

#include "properties/saboteurs/lstm_cell.h"
#include "properties/saboteurs/state.h"
#include "properties/saboteurs/tensors.h"

namespace backgauge::saboteurs {

inline bool has_peepholes(const Context& context) {
  const std::int64_t flag = context.call.attributes.use_peephole;
  if (context.variant.fault != Fault::kI12) return flag != 0;
  return of_first_call(context, {context.extents.B, context.extents.I, context.extents.H}, flag) != 0;
}

template <class Real>
std::vector<Real> read_h_grad(const Context& context, const Tensors<Real>& tensors) {
  const std::vector<Real> values = tensors.read("h_grad");
  return context.variant.fault == Fault::kI11 ? through_shared_memory(context, values) : values;
}

template <class Real>
void write_peephole_gradients(const Tensors<Real>& tensors, Fault fault, const Peepholes<std::vector<Real>>& d) {
  const bool first_two = fault == Fault::kA8, last_two = fault == Fault::kA8b;
  tensors.write("wci_grad", first_two ? d.wcf : d.wci);
  tensors.write("wcf_grad", first_two ? d.wci : last_two ? d.wco : d.wcf);
  tensors.write("wco_grad", last_two ? d.wcf : d.wco);
}

// Rows of H units each.
template <class Real>
class LstmTensors {
 public:
  using Index = std::int64_t;

  LstmTensors(const Work<Real>& work, const Tensors<Real>& tensors, Index H) : work_(work), tensors_(tensors), H_(H) {}

  const std::vector<Real>& cs() const { return cs_; }

  // All fields but the upstream gradients. cs_before: the states before the step, in rows of H units.
  LstmElement<Real> element(Index row, const std::vector<Real>& cs_before, Index row_before, Index unit) const {
    return {.cs_prev = at(Site::k_cs_prev_index, cs_before, row_before, unit),
            .cs = at(Site::k_cs_index, cs_, row, unit),
            .i = at(Site::k_i_index, i_, row, unit),
            .f = at(Site::k_f_index, f_, row, unit),
            .o = at(Site::k_o_index, o_, row, unit),
            .ci = at(Site::k_ci_index, ci_, row, unit),
            .co = at(Site::k_co_index, co_, row, unit),
            .cs_grad = 0,
            .h_grad = 0};
  }

  Peepholes<Real> peepholes(Index unit) const {
    const Index j = work_.index(Site::k_peephole_index, unit, H_);
    return {wci_[j], wcf_[j], wco_[j]};
  }

  Real at(Site site, const std::vector<Real>& values, Index row, Index unit) const {
    return values[row * H_ + work_.index(site, unit, H_)];
  }

  // Units that vector code leaves at 0.
  bool left_out(Index unit) const {
    const auto in_tail = [&](Index width) { return H_ > width && unit >= H_ / width * width; };
    return (work_.is(Fault::kI1) && in_tail(8)) || (work_.is(Fault::kI1b) && in_tail(16)) ||
           (work_.is(Fault::kI1c) && in_tail(32));
  }

  // The unit that is computed instead of `unit`: another one with fault I6.
  Index computed(Index unit) const { return work_.is(Fault::kI6) && unit >= 8 && unit < 12 ? unit - 4 : unit; }

 private:
  const Work<Real>& work_;
  const Tensors<Real>& tensors_;
  const Index H_;
  const std::vector<Real> wci_ = tensors_.read("wci"), wcf_ = tensors_.read("wcf"), wco_ = tensors_.read("wco");
  const std::vector<Real> i_ = tensors_.read("i"), f_ = tensors_.read("f"), o_ = tensors_.read("o");
  const std::vector<Real> ci_ = tensors_.read("ci"), co_ = tensors_.read("co"), cs_ = tensors_.read("cs");
};

}  // namespace backgauge::saboteurs
