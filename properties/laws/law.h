// SPDX-License-Identifier: Apache-2.0
// A law: a property that must hold between several runs of one implementation, whatever the correct values are. Each
// law has a file of its own, named after its claim. Its inputs come from a case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/judge/compare/claims.h"

namespace backgauge {

enum class Outcome {
  kHolds,
  kBroken,
  kSaysNothing  // inconclusive: the bounds are too wide to detect a break
};

struct Finding {
  Outcome outcome = Outcome::kBroken;
  std::string text{"not checked"};  // what is broken, or why it is inconclusive; "" if the law holds
};

// How large the cases of a law may be. kWide is for laws that need no bounds, which are slow to compute; some of these
// cases are large enough for seven threads.
enum class Sizes { kSmall, kWide };

struct Law {
  std::string_view id;     // as in the table of README.md: M3
  std::string_view name;   // that of its file: SplitsOverTheBatch
  std::string_view claim;  // one line
  bool (*holds_for)(const OpTraits&);
  Sizes sizes;
  Case (*about)(Case);  // turns any legal case into one that the law applies to, and leaves such a case unchanged
  Finding (*check)(const backgauge_implementation&, const Case&);  // an exception counts as broken
};

// Never throws. On input a case that the law applies to. Inconclusive if the implementation does not claim the case.
Finding check_law(const Law& law, const backgauge_implementation& implementation, const Case& c);

// `count` cases that the law applies to, of an op that it holds for. A seed always gives the same cases; a smaller
// count gives the first of them.
std::vector<Case> law_cases(const Law& law, backgauge_op op, int count, std::uint64_t seed);

// Values of Law::holds_for.
inline bool every_op(const OpTraits&) { return true; }
inline bool ops_with_peepholes(const OpTraits& op) { return op.has_peepholes; }
inline bool ops_with_steps(const OpTraits& op) { return op.has_steps; }
inline bool ops_with_seq_len_max(const OpTraits& op) { return op.has_seq_len_max; }
inline bool ops_with_layers(const OpTraits& op) { return op.has_layers; }

#define BACKGAUGE_LAW(name) Law name();
#include "properties/laws/laws.inc"
#undef BACKGAUGE_LAW

// In the order of laws.inc.
std::vector<Law> laws();

}  // namespace backgauge
