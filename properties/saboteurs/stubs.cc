// SPDX-License-Identifier: Apache-2.0
#include "properties/saboteurs/ops.h"
namespace backgauge::saboteurs {
template <class Real>
void cudnn_rnn_backprop(const Context&) {}
template <class Real>
void cudnn_rnn(const Context&) {}
template void cudnn_rnn_backprop<float>(const Context&);
template void cudnn_rnn_backprop<double>(const Context&);
template void cudnn_rnn<float>(const Context&);
template void cudnn_rnn<double>(const Context&);
std::int64_t reserve_length(const Variant&, const Extents&, std::int32_t) { return 0; }
std::uint64_t workspace_bytes(const Variant&, const Extents&) { return 0; }
void dropout_mask(const Context&, std::int32_t, std::uint8_t*) {}
}  // namespace backgauge::saboteurs
