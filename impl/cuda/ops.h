// SPDX-License-Identifier: Apache-2.0
// The ops. Each first takes its memory from the workspace; if that only counts, it does nothing else, looks at the
// sizes and attributes of the call alone, and `work` is nullptr. Otherwise the call is validated, its tensors lie in
// the memory of the backend, and the op puts what is to be done into the queues.
#pragma once

#include "impl/cuda/device/work.h"
#include "impl/cuda/workspace.h"
#include "reference/contract/call.h"

namespace backgauge::cuda {

template <class Storage>
void lstm_block_cell_grad(const LstmBlockCellGradCall<Storage>& call, Workspace& workspace, Work* work);

}  // namespace backgauge::cuda
