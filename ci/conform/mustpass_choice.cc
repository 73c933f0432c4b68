// SPDX-License-Identifier: Apache-2.0
#include "ci/conform/mustpass_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "ci/run/plan/redraw.h"
#include "ci/run/process/progress.h"
#include "properties/campaign/plan/campaign.h"
#include "properties/campaign/settings/settings.h"
#include "properties/case/draw/inputs.h"
#include "properties/judge/compare/claims.h"
#include "properties/judge/runner/refusals.h"

namespace backgauge::cli {
namespace {

// In milliseconds of `plain` (progress.h). Cases that take longer are left to the tiers, so that a list takes seconds.
constexpr double kMostWork = 100;

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

}  // namespace

MustpassDraft draft_mustpass_list(backgauge_op op, backgauge_dtype dtype, const std::string& version) {
  MustpassDraft out;
  std::vector<FeaturedCase> all = featured_cases(op, dtype);
  std::set<Feature> wanted, had;
  for (const FeaturedCase& each : all) wanted.insert(each.features.begin(), each.features.end());
  out.text = fmt::format("# backgauge mustpass {}: {} {}. Written by `backgauge conform --draft`; never changed.\n",
                         version, find_op(op)->word, dtype_word(dtype));
  for (const Case& c : chosen(std::move(all), had)) {
    out.text += to_string(c) + "\n";
    ++out.lines;
  }
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
