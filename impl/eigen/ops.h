// SPDX-License-Identifier: Apache-2.0
// The ops, each on a validated call in host memory and on the calling thread. They throw std::bad_alloc.
// They are compiled once per instruction set; here are all of those.
#pragma once

#include "reference/contract/call.h"
#include "reference/contract/narrow.h"

namespace backgauge::eigen {

struct Ops {
  void (*cell_half)(const LstmBlockCellGradCall<Half>&);
  void (*cell_float)(const LstmBlockCellGradCall<float>&);
  void (*block_half)(const BlockLstmGradV2Call<Half>&);
  void (*block_float)(const BlockLstmGradV2Call<float>&);
};

namespace baseline {
extern const Ops ops;
}
#ifdef BACKGAUGE_EIGEN_X86
namespace avx2 {
extern const Ops ops;
}
namespace avx512 {
extern const Ops ops;
}
#endif

}  // namespace backgauge::eigen
