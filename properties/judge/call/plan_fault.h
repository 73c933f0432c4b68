// SPDX-License-Identifier: Apache-2.0
// What an implementation's prepare has asked for, looked at before any of it is allocated.
#pragma once

#include <cstdint>
#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge {

// Both "" if the plan can be had.
struct PlanFault {
  std::string violation;  // against the contract, or more than any machine has: a formula that has overflown
  std::string broken;     // more than `memory_limit`, or than there is
};

// `memory_limit`: in bytes, of workspace and reserve_space together; 0: what the machine has.
PlanFault plan_fault(const backgauge_plan& plan, bool has_reserve_space, std::int32_t dtype,
                     std::uint64_t memory_limit);

}  // namespace backgauge
