// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/size_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "properties/campaign/settings/size_mixture.h"
#include "properties/case/line/case_attributes.h"

namespace backgauge {
namespace {

using SizeOf = std::int64_t (*)(const Case&);

// A size, or a product of sizes, and the values from which on other kernels may be chosen.
struct Threshold {
  std::string_view subject;
  SizeOf size;
  std::vector<std::int64_t> least;
  bool of_steps = false;  // only for ops that have steps
};

std::int64_t batch(const Case& c) { return c.B; }
std::int64_t inputs(const Case& c) { return c.I; }
std::int64_t hidden(const Case& c) { return c.H; }

std::int64_t rows(const Case& c) { return steps_taken(c) * c.B; }

// T B: the rows of the products over all steps, which give the gradients of weights.
constexpr std::pair<std::string_view, SizeOf> kAlignedSizes[] = {
    {"B", batch}, {"I", inputs}, {"H", hidden}, {"T B", rows}};

// Vectors of 8 and 16 elements, warps of 32, tiles of 64: B, I and H are often multiples of one of them, all three
// together.
constexpr std::int64_t kAlignments[] = {8, 16, 32, 64}, kTiles[] = {16, 32, 64};

const std::vector<Threshold>& thresholds() {
  static const std::vector<Threshold> all = {
      {"T", steps_taken, {2, 8, 32, 64}, true},
      {"B", batch, {16, 32, 64, 128}},
      {"I", inputs, {32, 64, 128, 256, 512}},
      {"H", hidden, {32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}},
      {"T B", rows, {256, 1024, 2048, 4096}, true},
      {"T B H", [](const Case& c) { return steps_taken(c) * c.B * c.H; }, {16384, 65536, 262144}, true},
      {"B H", [](const Case& c) { return c.B * c.H; }, {1024, 4096, 16384}},
      {"I H", [](const Case& c) { return c.I * c.H; }, {4096, 65536}},
  };
  return all;
}

bool has_steps(backgauge_op op) { return traits_of(op).has_steps; }

void add_remainders(std::string_view subject, SizeOf size, std::vector<SizeCondition>& out) {
  const auto add = [&](std::string text, std::function<bool(std::int64_t)> fits) {
    out.push_back({std::string(subject), std::move(text),
                   [size, fits = std::move(fits)](const Case& c) { return fits(size(c)); }});
  };
  for (const std::int64_t n : kAlignments) {
    add(fmt::format("{} % {} = 0", subject, n), [n](std::int64_t value) { return value % n == 0; });
  }
  for (const std::int64_t n : kTiles) {
    add(fmt::format("{} % {} = 1", subject, n), [n](std::int64_t value) { return value > n && value % n == 1; });
    add(fmt::format("{} % {} = {}", subject, n, n - 1), [n](std::int64_t value) { return value % n == n - 1; });
  }
}

// B, I and H aligned together are one condition, so that steps, layers or modes are combined with all three.
void add_alignments(std::vector<SizeCondition>& out) {
  for (const std::int64_t n : kAlignments) {
    out.push_back({"B, I, H", fmt::format("B, I, H % {} = 0", n),
                   [n](const Case& c) { return c.B % n == 0 && c.I % n == 0 && c.H % n == 0; }});
  }
}

void add_thresholds(backgauge_op op, std::vector<SizeCondition>& out) {
  for (const Threshold& each : thresholds()) {
    if (each.of_steps && !has_steps(op)) continue;
    for (const std::int64_t least : each.least) {
      out.push_back({std::string(each.subject), fmt::format("{} >= {}", each.subject, least),
                     [size = each.size, least](const Case& c) { return size(c) >= least; }});
    }
  }
  // Products with a vector instead of a matrix.
  out.push_back({"B", "B = 1", [](const Case& c) { return c.B == 1; }});
  if (has_steps(op)) out.push_back({"T", "T = 1", [](const Case& c) { return steps_taken(c) == 1; }});
}

void add_layers(backgauge_op op, std::vector<SizeCondition>& out) {
  if (!traits_of(op).has_layers) return;
  for (const std::int64_t least : {2, 4, 8}) {
    out.push_back({"layers", fmt::format("layers >= {}", least), [least](const Case& c) { return c.layers >= least; }});
  }
  out.push_back({"stack", "2 directions of layers >= 2",
                 [](const Case& c) { return c.layers >= 2 && c.direction == BACKGAUGE_BIDIRECTIONAL; }});
}

void add_kinds(backgauge_op op, std::vector<SizeCondition>& out) {
  for (const CaseAttribute& attribute : joined_attributes(op)) {
    for (const std::int32_t value : attribute.spec->values) {
      out.push_back({std::string(attribute.spec->key),
                     fmt::format("{}={}", attribute.spec->key, attribute.spec->word(value)),
                     [attribute, value](const Case& c) { return attribute.get(c) == value; }});
    }
  }
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if ((spec_of(op).dtypes & BACKGAUGE_BIT(dtype)) == 0) continue;
    out.push_back(
        {"dtype", fmt::format("dt={}", dtype_word(dtype)), [dtype](const Case& c) { return c.dtype == dtype; }});
  }
}

std::vector<SizeCondition> make_conditions(backgauge_op op) {
  std::vector<SizeCondition> out;
  for (const auto& [subject, size] : kAlignedSizes) {
    if (size != rows || has_steps(op)) add_remainders(subject, size, out);
  }
  add_alignments(out);
  add_thresholds(op, out);
  add_layers(op, out);
  add_kinds(op, out);
  return out;
}

// A key has kBits bits for each condition, whose place counts from 1.
constexpr int kBits = 7;
constexpr SizeCombination kMask = (1u << kBits) - 1;

}  // namespace

const std::vector<SizeCondition>& size_conditions(backgauge_op op) {
  static const std::map<backgauge_op, std::vector<SizeCondition>> all = [] {
    std::map<backgauge_op, std::vector<SizeCondition>> out;
    for (const backgauge_op each : gradient_ops()) {
      if (out.emplace(each, make_conditions(each)).first->second.size() > kMask) {
        throw std::logic_error("more conditions on sizes than a key has room for");
      }
    }
    return out;
  }();
  return all.at(op);
}

std::vector<int> conditions_met(const Case& c) {
  std::vector<int> out;
  if (c.B == 0 || steps_taken(c) == 0 || c.data == DataProfile::kBlank || needs_short_nets(c.data)) return out;
  const std::vector<SizeCondition>& all = size_conditions(c.op);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k].is_met(c)) out.push_back(static_cast<int>(k));
  }
  return out;
}

std::string text_of(backgauge_op op, SizeCombination combination) {
  std::string out;
  for (; combination != 0; combination >>= kBits) {
    out = size_conditions(op)[(combination & kMask) - 1].text + (out.empty() ? "" : " and ") + out;
  }
  return out;
}

SizeCombinations::SizeCombinations(backgauge_op op) : has_(std::size_t{1} << (3 * kBits)) {
  std::vector<std::string> subjects;
  for (const SizeCondition& each : size_conditions(op)) {
    const auto found = std::ranges::find(subjects, each.subject);
    subjects_.push_back(static_cast<int>(found - subjects.begin()));
    if (found == subjects.end()) subjects.push_back(each.subject);
  }
}

template <class Visit>
void SizeCombinations::visit(const std::vector<int>& met, int strength, const Visit& visit) const {
  const auto subject = [&](std::size_t k) { return subjects_[static_cast<std::size_t>(met[k])]; };
  const auto key = [&](std::size_t k) { return static_cast<SizeCombination>(met[k] + 1); };
  for (std::size_t a = 0; a < met.size(); ++a) {
    for (std::size_t b = a + 1; b < met.size(); ++b) {
      if (subject(a) == subject(b)) continue;
      const SizeCombination pair = (key(a) << kBits) | key(b);
      if (strength == 2) visit(pair);
      for (std::size_t c = b + 1; strength == 3 && c < met.size(); ++c) {
        if (subject(c) != subject(a) && subject(c) != subject(b)) visit((pair << kBits) | key(c));
      }
    }
  }
}

void SizeCombinations::insert(const std::vector<int>& met, int strength) {
  visit(met, strength, [&](SizeCombination each) { size_ += std::exchange(has_[each], 1) == 0; });
}

void SizeCombinations::erase(const std::vector<int>& met, int strength) {
  visit(met, strength, [&](SizeCombination each) { size_ -= std::exchange(has_[each], 0); });
}

std::int64_t SizeCombinations::count(const std::vector<int>& met, int strength) const {
  std::int64_t out = 0;
  visit(met, strength, [&](SizeCombination each) { out += has_[each]; });
  return out;
}

SizeCombination SizeCombinations::first() const {
  return static_cast<SizeCombination>(size_ == 0 ? 0 : std::ranges::find(has_, 1) - has_.begin());
}

SizeCombinations legal_size_combinations(backgauge_op op, const Dtypes& dtypes, int strength) {
  SizeCombinations out(op);
  for (const Case& c : usual_mixture(op, dtypes)) out.insert(conditions_met(c), strength);
  return out;
}

}  // namespace backgauge
