// SPDX-License-Identifier: Apache-2.0
// Measures the workspace that an implementation requests, and how it grows with the sizes of a call.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reference/contract/claims.h"

namespace backgauge::cli {

struct WorkspaceNeed {
  std::string of;                                        // "f32 t25b64i512h512", and the mode
  std::size_t bytes = 0;                                 // as returned by prepare
  std::vector<std::pair<char, std::size_t>> with_twice;  // bytes if one dimension is doubled
};

// On input one of the claims of an implementation that can be called. The call has float32, if claimed, the first
// claimed mode, one layer, one direction and one thread. Throws CommandError(kNotLoaded) if prepare refuses it.
WorkspaceNeed workspace_need(const backgauge_implementation& implementation, const Claims& claims);

// "6.2 MiB of workspace for f32 t25b64i512h512; doubling a dimension multiplies it: T 1.00, B 1.97"
std::string text_of(const WorkspaceNeed& need);

}  // namespace backgauge::cli
