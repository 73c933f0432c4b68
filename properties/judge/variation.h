// SPDX-License-Identifier: Apache-2.0
// The differences between the runs of one case, drawn from its seed, so that the case line is enough to repeat them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/contract/op_spec.h"

namespace backgauge {

// 1, 2, 3, 4, 5, 7, 8 or 16 threads, but not `first`: a single one, even and odd splits of most sizes, more threads
// than some dimensions have elements, and the powers of two that are used most.
std::int32_t other_thread_count(std::uint64_t seed, std::int32_t first);

// Outputs that share memory with the input that the table of the op names for them: one such output, or all of them.
// Empty if the op has none.
std::vector<std::string> drawn_shared_outputs(const OpSpec& spec, std::uint64_t seed);

// "with cs_prev_grad in the memory of cs_grad": how a call with these shared outputs differs from others.
std::string sharing_text(const OpSpec& spec, const std::vector<std::string>& outputs);

}  // namespace backgauge
