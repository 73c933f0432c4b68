// SPDX-License-Identifier: Apache-2.0
// Misbehaviour of prepare: sizes that overflow, and invalid results. All of them show in legal calls; some are tried on
// malformed ones, where prepare gets the legal call that the malformed one is made from.
#include <stdexcept>

#include "properties/saboteurs/hostile/misbehaviour.h"
#include "reference/contract/op_spec.h"

namespace backgauge::saboteurs {
namespace {

using Plan = backgauge_plan*;

backgauge_status planned(Call call, Plan plan, Message message) { return correct().prepare(call, plan, message); }

// The plan of `correct` with another value in one field.
template <auto field, auto value>
backgauge_status planned_with(Call call, Plan plan, Message message) {
  const backgauge_status status = planned(call, plan, message);
  plan->*field = value;
  return status;
}
constexpr auto kPlannedBytes = &backgauge_plan::workspace_bytes;
constexpr auto kPlannedAlignment = &backgauge_plan::workspace_alignment;

// Imitates an overflow of 4 * H * H * 4 bytes in 32 bits to a negative number, which is then extended to 64.
constexpr auto kLessThanNothing = static_cast<std::uint64_t>(std::int64_t{-64});

// Imitates bits that are taken for bytes, and T * B counted twice: a process has addresses for it, but no machine has
// the memory.
constexpr std::uint64_t kMoreThanThereIs = std::uint64_t{1} << 45;

bool has_reserve_space(Call call) {
  const OpSpec* spec = find_op(call->op);
  return spec != nullptr && spec->has(Role::kReserve);
}

template <std::int64_t length>
backgauge_status planned_with_reserve_space(Call call, Plan plan, Message message) {
  const backgauge_status status = planned(call, plan, message);
  if (has_reserve_space(call)) plan->reserve_space_length = length;
  return status;
}

backgauge_status throws_while_preparing(Call, Plan, Message) { throw std::runtime_error("thrown through C"); }

backgauge_status prepares_with_no_status(Call call, Plan plan, Message message) {
  planned(call, plan, message);
  int none = 77;
  backgauge_status status{};
  static_assert(sizeof status == sizeof none);
  std::memcpy(&status, &none, sizeof status);
  return status;
}

backgauge_status refuses_to_prepare(Call, Plan, Message) { return BACKGAUGE_INTERNAL; }

}  // namespace

std::vector<Misbehaviour> prepare_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"asks_for_less_than_nothing", "prepare asks for 2^64 - 64 bytes", kCases, kFailed,
       "prepare asked for 18446744073709551552 bytes of workspace", nullptr,
       planned_with<kPlannedBytes, kLessThanNothing>},
      {"asks_for_every_address", "prepare asks for 2^63 bytes", kMalformed, kFailed,
       "prepare asked for 2^63 bytes of workspace", nullptr, planned_with<kPlannedBytes, std::uint64_t{1} << 63>},
      {"asks_for_more_than_there_is", "prepare asks for 2^45 bytes", kCases, kBroken,
       "memory: prepare asked for 2^45 bytes of workspace", nullptr, planned_with<kPlannedBytes, kMoreThanThereIs>},
      {"asks_for_an_odd_alignment", "prepare asks for an alignment that is not a power of two", kMalformed, kFailed,
       "not a power of two", nullptr, planned_with<kPlannedAlignment, 0xdeadbeef>},
      {"asks_for_a_vast_alignment", "prepare asks for an alignment of 2 GiB", kCases, kFailed,
       "prepare asked for an alignment of 2 GiB", nullptr, planned_with<kPlannedAlignment, std::uint32_t{1} << 31>},
      {"asks_for_negative_reserve_space", "prepare asks for a reserve_space of -1 elements", kMalformed, kFailed,
       "prepare asked for a reserve_space of -1 elements", nullptr, planned_with_reserve_space<-1>},
      {"asks_for_vast_reserve_space", "prepare asks for a reserve_space of 2^60 elements", kCases, kFailed,
       "prepare asked for a reserve_space of 1152921504606846976 elements", nullptr,
       planned_with_reserve_space<std::int64_t{1} << 60>},
      {"throws_while_preparing", "prepare throws through the C table", kMalformed, kFailed,
       "prepare threw an exception", nullptr, throws_while_preparing},
      {"prepares_with_no_status", "prepare returns 77", kMalformed, kFailed, "prepare returned 77", nullptr,
       prepares_with_no_status},
      {"refuses_to_prepare", "prepare returns INTERNAL", kMalformed, kFailed, "prepare returned internal", nullptr,
       refuses_to_prepare},
  };
}

}  // namespace backgauge::saboteurs
