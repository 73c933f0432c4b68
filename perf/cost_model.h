// SPDX-License-Identifier: Apache-2.0
// The work of one call, counted from its sizes alone (semantics.md 1.6, 2.5), so that numbers of different
// implementations can be compared. Additions and multiplications count one each; pointwise work is not counted.
//   BlockLSTMGradV2      S * 16 * B * H * (I + H) flop
//   CudnnRNNBackprop     for each layer 2 * 2 * T * B * D * G * H * (I' + H) flop: data and weights; G gates, I' inputs
//                        of the layer's matrices (0 where the input is skipped)
//   LSTMBlockCellGrad    no products: 13 * B * H elements read or written, with peepholes 14 * B * H + 6 * H
// Bytes of the first two: each element that is read or written, once.
#pragma once

#include "properties/case/case.h"

namespace backgauge {

// The line that goes with every result.
inline constexpr const char* kWorkConvention =
    "block 16*S*B*H*(I+H) flop; cudnn 4*T*B*D*G*H*(I'+H) flop a layer; cell 13*B*H elements (peephole 14*B*H+6*H); "
    "products only, minimal traffic";

enum class LimitedBy { kArithmetic, kBandwidth };  // which limit of the machine the work is measured against

struct Work {
  double flops = 0;  // 0: none are counted
  double bytes = 0;
  LimitedBy limited_by = LimitedBy::kArithmetic;
};

Work work_of(const Case& c);

// About what it takes to judge and time a case: every element of the call as inputs of the problem (a double), twice in
// its dtype, as outputs in double, and what is right with what is allowed (24 bytes).
double memory_of_a_judged_case(const Case& c);

// What one process takes that times a case: the call, and the inputs as they came (a double).
double memory_of_a_launch(const Case& c);

}  // namespace backgauge
