// SPDX-License-Identifier: Apache-2.0
// A law: what must hold between several runs of one implementation, whatever the right values are. Each lives in a file
// of its own, whose name is the claim. It takes the implementation as a value and a case as the source of its inputs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/case.h"
#include "properties/judge/compare/claims.h"

namespace backgauge {

enum class Outcome {
  kHolds,
  kBroken,
  kSaysNothing  // not broken, but it would hardly have been noticed: the bounds are too wide
};

struct Finding {
  Outcome outcome = Outcome::kBroken;
  std::string text{"not checked"};  // what is broken, or why it says nothing; "" if it holds
};

// How large the cases may be that a law is tried on. kWide: for laws that need no bounds, which are slow to compute;
// some of the cases are worth seven threads.
enum class Sizes { kSmall, kWide };

struct Law {
  std::string_view id;     // in the table of README.md, M3
  std::string_view name;   // that of its file, SplitsOverTheBatch
  std::string_view claim;  // one line
  bool (*holds_for)(const OpTraits&);
  Sizes sizes;
  Case (*about)(Case);  // from any legal case one that the law is about; such a case stays as it is
  Finding (*check)(const backgauge_implementation&, const Case&);  // may throw std::exception: broken
};

// Never throws. On input a case that the law is about. What the implementation does not claim says nothing.
Finding check_law(const Law& law, const backgauge_implementation& implementation, const Case& c);

// `count` cases that the law is about, of an op that it holds for: always the same ones for a seed, and the first of
// them for a smaller count.
std::vector<Case> law_cases(const Law& law, backgauge_op op, int count, std::uint64_t seed);

// Values of Law::holds_for.
inline bool every_op(const OpTraits&) { return true; }
inline bool ops_with_peepholes(const OpTraits& op) { return !op.is_stacked; }
inline bool ops_with_steps(const OpTraits& op) { return op.has_steps; }
inline bool ops_with_seq_len_max(const OpTraits& op) { return op.has_seq_len_max; }
inline bool stacked_ops(const OpTraits& op) { return op.is_stacked; }

#define BACKGAUGE_LAW(name) Law name();
#include "properties/laws/laws.inc"
#undef BACKGAUGE_LAW

// All of them.
std::vector<Law> laws();

}  // namespace backgauge
