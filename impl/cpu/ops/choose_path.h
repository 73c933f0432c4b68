// SPDX-License-Identifier: Apache-2.0
// The ops of ops.h, defined by functions of the same names that were compiled for each instruction set.
#pragma once

#include "impl/cpu/machine/path.h"
#include "impl/cpu/ops/ops.h"

// Defines `op` for calls of type Call<Half> and Call<float>: calls the function for the instruction set of this
// process.
#define BACKGAUGE_OP_ON_PATH(op, Call)                 \
  template <class S>                                   \
  void op(const Call<S>& call, Workspace& workspace) { \
    BACKGAUGE_ON_PATH(op(call, workspace));            \
  }                                                    \
  template void op(const Call<Half>&, Workspace&);     \
  template void op(const Call<float>&, Workspace&);

// The same for every storage type.
#define BACKGAUGE_OP_ON_PATH_OF_EVERY_TYPE(op, Call)   \
  BACKGAUGE_OP_ON_PATH(op, Call)                       \
  template void op(const Call<Bfloat16>&, Workspace&); \
  template void op(const Call<double>&, Workspace&);
