// SPDX-License-Identifier: Apache-2.0
#include "ci/conform/mustpass_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "ci/run/plan/redraw.h"
#include "ci/run/process/progress.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/campaign/plan/joint_sizes.h"
#include "properties/campaign/settings/settings.h"
#include "properties/campaign/settings/size_conditions.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/runner/refusals.h"

namespace backgauge::cli {
namespace {

// In milliseconds of `plain` (progress.h). Cases that take longer are left to the tiers, so that a list takes seconds.
constexpr double kMostWork = 100;

// The share of the pairs of conditions on sizes that a list meets, if all of them can prove something. The rest would
// take as long as all others together.
constexpr double kSizePairs = 0.95;

// Malformed calls of each op and dtype: as many as a smoke tier has.
constexpr std::uint64_t kMalformed = 200;

// A case with random dropout must be conclusive for this many masks: if it is, it is so for 98.5 % of all masks with
// a probability of 95 %.
constexpr int kMasks = 200;

using Feature = std::vector<std::int64_t>;

// What a case adds to a list: pairs of settings, its sizes, its data profile in its mode, and where co is saved whether
// it is tanh(cs): the gradient takes the saved one (semantics.md, 1.3).
std::set<Feature> features_of(const Case& c) {
  std::set<Feature> out;
  const Row row = row_of(c);
  for (std::size_t first = 0; first < row.size(); ++first) {
    for (std::size_t second = first + 1; second < row.size(); ++second) {
      if (row[first] == kUnset || row[second] == kUnset) continue;
      out.insert({0, static_cast<int>(first), row[first], static_cast<int>(second), row[second]});
    }
  }
  const std::int64_t sizes[] = {c.T, c.B, c.I, c.H, c.layers};
  for (std::int64_t k = 0; k < std::ssize(sizes); ++k) out.insert({1, k, sizes[k]});
  out.insert({2, static_cast<int>(c.data), c.rnn_mode, c.use_peephole ? 1 : 0, c.direction});
  if (spec_of(c.op).has(Role::kSaved)) {
    out.insert({3, static_cast<int>(c.data), c.use_peephole ? 1 : 0, fill(c).facts.consistent_saved ? 1 : 0});
  }
  return out;
}

// What an implementation may declare for a dtype, as far as it makes bounds wider.
std::vector<Declared> declarations(backgauge_dtype dtype) {
  std::vector<Declared> out;
  const bool narrow = is_narrow(dtype);
  for (const backgauge_accuracy_class accuracy_class :
       {BACKGAUGE_CLASS_A, BACKGAUGE_CLASS_A_PRIME, BACKGAUGE_CLASS_B}) {
    if (!narrow && accuracy_class != BACKGAUGE_CLASS_A) continue;
    for (const bool recomputes_co : {false, true}) {
      out.push_back({.accuracy_class = accuracy_class, .recomputes_co = recomputes_co});
    }
  }
  if (dtype == BACKGAUGE_FLOAT32) out.push_back({.numerical_contract = BACKGAUGE_FP32_TF32});
  return out;
}

// Whether correct outputs pass, whatever the implementation declares and whichever its dropout masks are. Declarations
// with which the case is SKIPPED are ignored: an implementation that does not claim a case does not conform. Sets the
// checksum.
bool is_conclusive(Case& c) {
  Filled filled = fill(c);
  if (!filled.error.empty()) return false;
  for (const Declared& declared : declarations(c.dtype)) {
    if (!undecidable(declared, filled.facts).empty()) continue;
    if (verdict_on_correct_outputs(c, filled, declared).status != Status::kPassed) return false;
  }
  Case other_masks = c;
  const int masks = has_random_dropout(filled.problem) ? kMasks : 0;
  for (int k = 0; k < masks; ++k) {
    other_masks.seed = c.seed + static_cast<std::uint64_t>(k) + 1;
    if (verdict_on_correct_outputs(other_masks, filled, declarations(c.dtype).back()).status != Status::kPassed) {
      return false;
    }
  }
  c.checksum = filled.checksum;
  return true;
}

// Sums that are too long for a class to prove something take other values.
bool can_be_made_conclusive(Case& c) {
  if (is_conclusive(c)) return true;
  c = redrawn(c, kMostRedrawsOfClass + 1);
  return is_conclusive(c);
}

struct FeaturedCase {
  Case c;
  std::set<Feature> features;
  double work;
};

std::vector<FeaturedCase> featured_cases(backgauge_op op, backgauge_dtype dtype) {
  std::vector<FeaturedCase> out;
  for (const Case& c : plan({.tier = Tier::kCi, .seed = 1, .ops = {op}})) {
    if (c.dtype == dtype && expected_work(c) <= kMostWork) out.push_back({c, features_of(c), expected_work(c)});
  }
  return out;
}

std::size_t gain_of(const FeaturedCase& candidate, const std::set<Feature>& had) {
  return static_cast<std::size_t>(
      std::ranges::count_if(candidate.features, [&](const Feature& feature) { return !had.contains(feature); }));
}

// Greedy: the case that adds most comes next; of several, the cheapest; of these, the first in the plan.
std::vector<Case> chosen(std::vector<FeaturedCase> left, std::set<Feature>& had) {
  std::vector<Case> out;
  for (;;) {
    auto best = left.end();
    std::size_t most = 0;
    for (auto each = left.begin(); each != left.end(); ++each) {
      const std::size_t gain = gain_of(*each, had);
      if (gain < most || gain == 0) continue;
      if (gain == most && best != left.end() && each->work >= best->work) continue;
      most = gain;
      best = each;
    }
    if (best == left.end()) return out;
    if (is_conclusive(best->c)) {
      had.insert(best->features.begin(), best->features.end());
      out.push_back(best->c);
    }
    left.erase(best);
  }
}

// Cases that meet most of the pairs of conditions on sizes which those before do not meet.
std::vector<Case> of_joint_sizes(backgauge_op op, backgauge_dtype dtype, const std::vector<Case>& before) {
  Draws draws(1, "mustpass/joint sizes");
  std::vector<Case> out;
  for (Case& c : joint_sizes(op, {dtype}, {.pairs = kSizePairs}, before, draws)) {
    if (can_be_made_conclusive(c)) out.push_back(std::move(c));
  }
  return out;
}

// What kernels are tuned for, where nothing before meets it: sizes of several steps that are all aligned, and a step of
// training.
std::vector<Case> of_usual_sizes(backgauge_op op, backgauge_dtype dtype, const std::vector<Case>& before) {
  const bool has_steps = traits_of(op).has_steps;
  const auto is_aligned = [&](const Case& c) {
    return (c.T > 1 || !has_steps) && c.B % 8 == 0 && c.I % 8 == 0 && c.H % 8 == 0 && c.H >= 64;
  };
  const auto trains = [&](const Case& c) { return !has_steps || (c.T * c.B >= 1024 && c.H >= 64); };
  std::vector<Case> out;
  const auto add = [&](const auto& is, Case c) {
    const auto meets = [&](const Case& each) { return !conditions_met(each).empty() && is(each); };
    if (std::ranges::any_of(before, meets)) return;
    if (!can_be_made_conclusive(c)) throw std::runtime_error(to_string(c) + ": proves nothing");
    out.push_back(c);
  };
  Case c{.op = op, .T = has_steps ? 2 : 1, .B = 8, .I = 16, .H = 64, .dtype = dtype};
  if (spec_of(op).has(Role::kLength)) c.seq_len_max = 2;
  c.data = DataProfile::kTame;
  c.seed = 1;
  add(is_aligned, c);
  c.T = c.B = 32;
  if (spec_of(op).has(Role::kLength)) c.seq_len_max = 32;
  add(trains, c);
  return out;
}

}  // namespace

MustpassDraft draft_mustpass_list(backgauge_op op, backgauge_dtype dtype, const std::string& version) {
  MustpassDraft out;
  std::vector<FeaturedCase> all = featured_cases(op, dtype);
  std::set<Feature> wanted, had;
  for (const FeaturedCase& each : all) wanted.insert(each.features.begin(), each.features.end());
  out.text = fmt::format("# backgauge mustpass {}: {} {}. Written by `backgauge conform --draft`; never changed.\n",
                         version, find_op(op)->word, dtype_word(dtype));
  std::vector<Case> cases = chosen(std::move(all), had);
  std::ranges::move(of_joint_sizes(op, dtype, cases), std::back_inserter(cases));
  std::ranges::move(of_usual_sizes(op, dtype, cases), std::back_inserter(cases));
  for (const Case& c : cases) out.text += to_string(c) + "\n";
  out.lines = cases.size();
  const std::uint64_t count = malformed_case_count(op, dtype);
  for (std::uint64_t k = 0; k < std::min(kMalformed, count); ++k) {
    Case c{.op = op, .dtype = dtype, .data = DataProfile::kMalformed};
    c.seed = k * count / std::min(kMalformed, count);
    out.text += fmt::format("{}  # {}\n", to_string(c), malformed_description(malformed_of_case(op, dtype, c.seed)));
    ++out.malformed;
  }
  out.wanted = wanted.size();
  out.covered = had.size();
  return out;
}

}  // namespace backgauge::cli
