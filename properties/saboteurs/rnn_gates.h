// SPDX-License-Identifier: Apache-2.0
// Gradients of the pre-activations of one pseudo-layer, for every step, example, gate and unit.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/saboteurs/rnn_net.h"

namespace backgauge::saboteurs {

template <class Real>
class GateRows {
 public:
  explicit GateRows(const RnnNet& net)
      : H_(net.H),
        G_(net.G),
        padded_(net.variant->style.padded_gates),
        narrow_(net.is(Fault::kH17)),
        stride_(padded_ ? (net.G * net.H + 15) / 16 * 16 : net.G * net.H),
        values_(static_cast<std::size_t>(net.T * net.B * stride_)) {}

  Real& at(std::int64_t row, std::int64_t gate, std::int64_t unit) { return values_[index(row, gate, unit)]; }
  Real at(std::int64_t row, std::int64_t gate, std::int64_t unit) const { return values_[index(row, gate, unit)]; }

 private:
  std::int64_t index(std::int64_t row, std::int64_t gate, std::int64_t unit) const {
    const std::int64_t k = row * stride_ + (padded_ ? unit * G_ + gate : gate * H_ + unit);
    return narrow_ ? static_cast<std::uint16_t>(k) : k;
  }

  const std::int64_t H_, G_;
  const bool padded_, narrow_;
  const std::int64_t stride_;
  std::vector<Real> values_;
};

}  // namespace backgauge::saboteurs
