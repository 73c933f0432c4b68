// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/campaign.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "properties/campaign/plan/containment.h"
#include "properties/campaign/plan/joint_sizes.h"
#include "properties/campaign/plan/random_cases.h"
#include "properties/campaign/plan/structured_cases.h"
#include "properties/campaign/plan/sweeps.h"
#include "properties/campaign/plan/training_sizes.h"
#include "properties/campaign/settings/covering.h"
#include "properties/campaign/settings/draws.h"
#include "properties/campaign/settings/settings.h"
#include "reference/contract/op_spec.h"

namespace backgauge {
namespace {

// The amount of each kind of case. README.md gives the reasons.
struct Amounts {
  int strength = 2;           // of the covering array of the settings
  int seeds_per_setting = 1;  // cases for each of its rows
  int random = 0;             // per op and dtype
  int edges = 1;              // cases for each edge shape
  int containment = 0;        // cases for each place
  bool sweeps = false, thorough_sweeps = false;
  SizeAmount sizes = SizeAmount::kFew;
  int structured = 1;  // cases for each structure, dtype and mode; in a smoke tier dtypes and modes take turns
  JointAmount joint = {};
};

Amounts amounts(Tier tier) {
  switch (tier) {
    case Tier::kSmoke: return {.random = 100, .joint = {.pairs = 0.75}};
    case Tier::kCi:
      return {.strength = 3,
              .random = 1000,
              .edges = 2,
              .containment = 1,
              .sweeps = true,
              .sizes = SizeAmount::kGate,
              .joint = kJointOfTheGate};
    case Tier::kFull: break;
  }
  return {.strength = 3,
          .seeds_per_setting = 3,
          .random = 25000,
          .edges = 5,
          .containment = 3,
          .sweeps = true,
          .thorough_sweeps = true,
          .sizes = SizeAmount::kEvery,
          .structured = 3,
          .joint = {.pairs = 1, .triples = 1}};
}

// An array is the same for every seed, and takes a few tenths of a second to make, so it is kept.
const std::vector<Row>& settings_array(backgauge_op op, const Dtypes& dtypes, int strength, bool structured) {
  static std::map<std::tuple<int, Dtypes, int, bool>, std::vector<Row>> arrays;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = arrays.try_emplace({op, dtypes, strength, structured});
  if (is_new) {
    const Factors factors = structured ? structured_factors(op, dtypes) : drawn_factors(op, dtypes);
    found->second = covering_array(factors, strength);
  }
  return found->second;
}

// The cases of one op in one group of dtypes.
class Planner {
 public:
  // later: the group is not the first. Since its dtype is fixed, pairs of the other settings, and of conditions on
  // sizes, are its triples. In the gate it has the frequent training sizes only: with all of them the cases of bfloat16
  // took 49 of 236 s on an AMD EPYC, and the other dtypes have all sizes too.
  Planner(const Campaign& campaign, backgauge_op op, const Dtypes& dtypes, bool later)
      : tier_(campaign.tier),
        amounts_(amounts(campaign.tier)),
        strength_(later ? amounts_.strength - 1 : amounts_.strength),
        sizes_(later && amounts_.sizes == SizeAmount::kGate ? SizeAmount::kFrequent : amounts_.sizes),
        op_(op),
        dtypes_(dtypes),
        name_(std::string(find_op(op)->word) + (later ? "/" + std::string(dtype_word(dtypes.front())) : "")),
        draws_(campaign.seed, "campaign/" + name_),
        structure_draws_(campaign.seed, "structures/" + name_),
        size_draws_(campaign.seed, "sizes/" + name_),
        mixture_draws_(campaign.seed, "mixture/" + name_),
        joint_draws_(campaign.seed, "joint sizes/" + name_) {
    if (later && amounts_.joint.triples < 1) amounts_.joint.triples = 0;
  }

  std::vector<Case> cases() {
    settings(false, draws_);
    for (const backgauge_dtype dtype : kFloatDtypes) {
      if (std::ranges::count(dtypes_, dtype) > 0) of_dtype(dtype);
    }
    // Each kind of case added later has its own random stream, so that the cases of the other kinds did not change.
    settings(true, structure_draws_);
    for (int k = 0; k < amounts_.structured; ++k) {
      append(structured_cases(op_, dtypes_, tier_ != Tier::kSmoke, structure_draws_));
    }
    append(training_sizes(op_, dtypes_, sizes_, size_draws_));
    append(joint_sizes(op_, dtypes_, amounts_.joint, out_, joint_draws_));
    return std::move(out_);
  }

 private:
  void settings(bool structured, Draws& draws) {
    for (const Row& row : settings_array(op_, dtypes_, strength_, structured)) {
      for (int k = 0; k < amounts_.seeds_per_setting; ++k) out_.push_back(case_of(op_, row, draws));
    }
  }

  void of_dtype(backgauge_dtype dtype) {
    for (int k = 0; k < amounts_.random; ++k) {
      out_.push_back(random_case(op_, dtype, draws_));
      mix_sizes(out_.back(), mixture_draws_);
    }
    for (int k = 0; k < amounts_.edges; ++k) append(edge_shapes(op_, dtype, draws_));
    for (int k = 0; k < amounts_.containment; ++k) append(containment_cases(op_, dtype, draws_));
    if (amounts_.sweeps) append(size_sweeps(op_, dtype, amounts_.thorough_sweeps, draws_));
    // These take from a hundredth of a second to seconds each. Every op has float32.
    if (tier_ == Tier::kFull || (tier_ == Tier::kCi && dtype == BACKGAUGE_FLOAT32)) {
      append(sixteen_bit_limits(op_, dtype, tier_ == Tier::kFull, draws_));
    }
    if (tier_ == Tier::kFull) append(index_limits(op_, dtype, draws_));
  }

  void append(std::vector<Case> more) { std::ranges::move(more, std::back_inserter(out_)); }

  const Tier tier_;
  Amounts amounts_;
  const int strength_;
  const SizeAmount sizes_;
  const backgauge_op op_;
  const Dtypes dtypes_;
  const std::string name_;
  Draws draws_, structure_draws_, size_draws_, mixture_draws_, joint_draws_;
  std::vector<Case> out_;
};

void shuffle(std::vector<Case>& cases, Draws draws) {
  for (std::size_t k = cases.size(); k > 1; --k) {
    std::swap(cases[k - 1], cases[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(k)))]);
  }
}

constexpr Tier kTiers[] = {Tier::kSmoke, Tier::kCi, Tier::kFull};

}  // namespace

std::string_view tier_word(Tier tier) {
  constexpr std::string_view kWords[] = {"smoke", "ci", "full"};
  return kWords[static_cast<int>(tier)];
}

std::optional<Tier> parse_tier(std::string_view word) {
  const auto* const found = std::ranges::find(kTiers, word, tier_word);
  return found == std::end(kTiers) ? std::nullopt : std::optional(*found);
}

std::vector<Case> plan(const Campaign& campaign) {
  std::vector<Case> out, later;
  for (const backgauge_op op : campaign.ops) {
    const std::vector<Dtypes> groups = dtype_groups(op);
    for (std::size_t k = 0; k < groups.size(); ++k) {
      std::vector<Case>& cases = k == 0 ? out : later;
      std::ranges::move(Planner(campaign, op, groups[k], k > 0).cases(), std::back_inserter(cases));
    }
  }
  shuffle(out, Draws(campaign.seed, "order"));
  shuffle(later, Draws(campaign.seed, "order/later"));
  std::ranges::move(later, std::back_inserter(out));
  return out;
}

}  // namespace backgauge
