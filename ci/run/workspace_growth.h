// SPDX-License-Identifier: Apache-2.0
// How much memory an implementation asks for beyond the tensors of a call, and how that grows.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge::cli {

struct WorkspaceNeed {
  std::string of;                                        // "f32 t25b64i512h512", and the mode
  std::size_t bytes = 0;                                 // prepare's answer
  std::vector<std::pair<char, std::size_t>> with_twice;  // bytes of calls with one dimension twice as large
};

// On input one of the claims of an implementation that can be called. Asked for float32 where it is claimed, for the
// first mode claimed, one layer, one direction, one thread. Throws CommandError(kNotLoaded) where prepare refuses.
WorkspaceNeed workspace_need(const backgauge_implementation& implementation, const backgauge_op_claims& claims);

// "6.2 MiB of workspace for f32 t25b64i512h512; doubling a dimension multiplies it: T 1.00, B 1.97"
std::string text_of(const WorkspaceNeed& need);

}  // namespace backgauge::cli
