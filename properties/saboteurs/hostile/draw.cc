// SPDX-License-Identifier: Apache-2.0
// Draws dropout masks from something other than seed and seed2. The masks are fair, and reported
// truthfully.
#include <atomic>

#include "properties/saboteurs/hostile/misbehaviour.h"

namespace backgauge::saboteurs {
namespace {

backgauge_status forward_with(Call call, std::int64_t seed, std::int64_t seed2, Message message) {
  backgauge_call other = *call;
  other.attributes.seed = seed;
  other.attributes.seed2 = seed2;
  return correct().forward(&other, message);
}

backgauge_status seed_ignored(Call call, Message message) { return forward_with(call, 1, 1, message); }

backgauge_status seed2_ignored(Call call, Message message) {
  return forward_with(call, call->attributes.seed, 1, message);
}

// Like a generator that keeps its state from call to call.
backgauge_status seed_state(Call call, Message message) {
  static std::atomic<std::int32_t> calls{0};
  return forward_with(call, call->attributes.seed, ++calls, message);
}

void has_state(Claims& claims) { claims.dropout_has_state = true; }

backgauge_status mask_unsupported(Call, std::int32_t, std::uint8_t*, Message) { return BACKGAUGE_UNSUPPORTED; }

}  // namespace

std::vector<Misbehaviour> mask_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"seed_ignored", "the same dropout mask for all seeds", kCases, kFailed, "the mask does not change with seed (",
       nullptr, nullptr, nullptr, seed_ignored},
      {"seed2_ignored", "a dropout mask that seed2 does not change", kCases, kFailed,
       "the mask does not change with seed2", nullptr, nullptr, nullptr, seed2_ignored},
      {"seed_state", "a different dropout mask in every call", kCases, kFailed, "the mask differs in a second forward",
       nullptr, nullptr, nullptr, seed_state},
      {"seed_state_nd", "a different dropout mask in every call, and does not claim determinism", kCases, kFailed,
       "the mask differs in a second forward", nullptr, nullptr, nullptr, seed_state, not_deterministic},
      {"seed_ignored_untold", "the same dropout mask for all seeds, and does not report it", kCases, kFailed,
       "outputs do not change with seed", nullptr, nullptr, mask_unsupported, seed_ignored},
      {"seed_ignored_state", "the same dropout mask for all seeds, and claims that its generator has state", kCases,
       kFailed, "the mask does not change with seed (", nullptr, nullptr, nullptr, seed_ignored, has_state},
      {"seed_state_claimed", "a different dropout mask in every call, as it claims", kCases, kPassed, "", nullptr,
       nullptr, nullptr, seed_state, has_state},
  };
}

}  // namespace backgauge::saboteurs
