// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/plan_fault.h"

#include <fmt/format.h>

#include <bit>

#include "properties/case/files/memory_budget.h"

namespace backgauge {
namespace {

// A process can address 2^47 bytes on x86-64 and 2^48 on most other machines: no plan asks for more on purpose.
constexpr std::uint64_t kAddresses = std::uint64_t{1} << 47;

// The size of a huge page: no computation needs a larger alignment.
constexpr std::uint32_t kMostAlignment = std::uint32_t{1} << 21;

// Smaller requests fit on any machine that runs the judge, so the system is not asked.
constexpr std::uint64_t kSurelyThere = std::uint64_t{1} << 26;

}  // namespace

void add_plan_fault(const backgauge_plan& plan, const OpSpec& op, std::int32_t dtype, std::uint64_t memory_limit,
                    RunResult& result) {
  const auto violates = [&](std::string text) { result.violations.push_back(std::move(text)); };
  if (plan.workspace_alignment != 0 && !std::has_single_bit(plan.workspace_alignment)) {
    return violates(fmt::format("prepare asked for an alignment of {} bytes, which is not a power of two",
                                plan.workspace_alignment));
  }
  if (plan.workspace_alignment > kMostAlignment) {
    return violates(fmt::format("prepare asked for an alignment of {}, more than the {} that is allowed",
                                bytes_text(plan.workspace_alignment), bytes_text(kMostAlignment)));
  }
  if (plan.workspace_bytes >= kAddresses) {
    return violates(fmt::format("prepare asked for {} of workspace, more than a process can address",
                                bytes_text(plan.workspace_bytes)));
  }
  const auto element = static_cast<std::int64_t>(backgauge_dtype_bytes(dtype));
  const std::int64_t length = plan.reserve_space_length;
  const bool reserves = op.has(Role::kReserve);
  if (length < 0 || (reserves && length >= static_cast<std::int64_t>(kAddresses) / element)) {
    return violates(fmt::format("prepare asked for a reserve_space of {} elements", length));
  }
  const std::uint64_t reserve = reserves ? static_cast<std::uint64_t>(length * element) : 0;
  const std::uint64_t wanted = plan.workspace_bytes + reserve;
  if (wanted <= kSurelyThere) return;
  const std::string asked = fmt::format("memory: prepare asked for {} of workspace and {} of reserve_space",
                                        bytes_text(plan.workspace_bytes), bytes_text(reserve));
  const std::uint64_t limit = memory_limit == 0 ? machine_memory() : memory_limit, there = available_memory();
  if (wanted > limit) {
    result.broken = fmt::format("{}, more than the limit of {}", asked, bytes_text(limit));
  } else if (wanted > there) {
    result.broken = fmt::format("{}, but only {} is available", asked, bytes_text(there));
  }
}

}  // namespace backgauge
