// SPDX-License-Identifier: Apache-2.0
// Checks what prepare of an implementation asked for, before any of it is allocated.
#pragma once

#include <cstdint>

#include "properties/judge/call/run.h"
#include "reference/contract/op_spec.h"

namespace backgauge {

// Adds what is wrong with a plan for a call of `op` to the result of prepare: a violation if it breaks the contract, or
// asks for more than any machine has, because a formula has overflowed; `broken` if it asks for more than
// `memory_limit`, or than is available. `memory_limit`: bytes for workspace and reserve_space together; 0: as much as
// the machine has.
void add_plan_fault(const backgauge_plan& plan, const OpSpec& op, std::int32_t dtype, std::uint64_t memory_limit,
                    RunResult& result);

}  // namespace backgauge
