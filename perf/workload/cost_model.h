// SPDX-License-Identifier: Apache-2.0
// The work of one call, counted from its sizes alone (semantics.md 1.6, 2.5), so that numbers of different
// implementations can be compared. An addition or a multiplication counts as one; pointwise work is not counted.
//   BlockLSTMGradV2      S * 16 * B * H * (I + H) flop
//   CudnnRNNBackprop     for each layer 2 * 2 * T * B * D * G * H * (I' + H) flop: data and weights; G gates, I' inputs
//                        of the layer's matrices (0 where the input is skipped)
//   LSTMBlockCellGrad    no products: 13 * B * H elements read or written, with peepholes 14 * B * H + 6 * H
// Bytes of the first two: each element that is read or written, once.
#pragma once

#include "properties/case/line/case.h"

namespace backgauge {

// The line that is printed and written with every result.
inline constexpr const char* kWorkConvention =
    "block 16*S*B*H*(I+H) flop; cudnn 4*T*B*D*G*H*(I'+H) flop a layer; cell 13*B*H elements (peephole 14*B*H+6*H); "
    "products only, minimal traffic";

enum class LimitedBy { kArithmetic, kBandwidth };  // the limit that the time is compared with

inline constexpr double kGiga = 1e9;

struct Work {
  double flops = 0;  // 0: the op has no products
  double bytes = 0;
  LimitedBy limited_by = LimitedBy::kArithmetic;
};

Work work_of(const Case& c);

// The approximate memory to judge and time a case: each element of the call as an input of the problem (a double),
// twice in its dtype, as an output in double, and with expected value and allowed error (24 bytes).
double memory_of_a_judged_case(const Case& c);

// The approximate memory of one process that times a case: the call, and its inputs as doubles.
double memory_of_a_launch(const Case& c);

}  // namespace backgauge
