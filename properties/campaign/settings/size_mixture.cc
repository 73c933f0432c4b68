// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/size_mixture.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "properties/campaign/settings/oracle_work.h"

namespace backgauge {
namespace {

constexpr double kMostWork = 0.5 * kWorkOfASecond;

// Bounds grow with every step of every layer: 8 layers of tanh in half proved nothing after 32 steps.
constexpr std::int64_t kMostLayerSteps = 128;

// With 3,000 cases, a combination that one case of 500 has is missing with probability exp(-6).
constexpr int kUsual = 3000;

enum class Kind { kAligned, kTile, kPrime };
constexpr Kind kKinds[] = {Kind::kAligned, Kind::kTile, Kind::kPrime};

// `most`: multiples of the alignment. Now and then a size is far larger.
std::int64_t draw_size(Kind kind, std::int64_t most, Draws& draws) {
  constexpr std::int64_t kPrimes[] = {1, 2, 3, 5, 7, 11, 13}, kMultiplesOf[] = {8, 16, 32, 64, 64};
  if (kind == Kind::kPrime) return draws.pick(kPrimes);
  const std::int64_t multiple = draws.once_in(8) ? 4 * most : 1 + draws.below(most);
  const std::int64_t size = multiple * draws.pick(kMultiplesOf);
  return kind == Kind::kAligned ? size : size + draws.pick<std::int64_t>({-1, 1});
}

// All of one kind in half of the cases.
void draw_dimensions(Case& c, Draws& draws) {
  const std::int64_t kind = draws.below(4);
  const auto kind_of_next = [&] { return kind < 2 ? kKinds[kind] : draws.pick(kKinds); };
  c.B = draw_size(kind_of_next(), 2, draws);
  c.I = draw_size(kind_of_next(), 4, draws);
  c.H = draw_size(kind_of_next(), 4, draws);
}

// Widths of training; where no weight is read, they cost little.
void widen(Case& c, Draws& draws) {
  constexpr std::int64_t kWidths[] = {256, 512, 650, 768, 1024, 1536, 2048}, kFree[] = {1024, 1536, 2048, 4096, 8192};
  const bool reads_weights = spec_of(c.op).input(Role::kWeight).rows(extents_of(c)) > 0;
  if (draws.once_in(10)) c.I = draws.pick(kWidths);
  if (reads_weights && draws.once_in(10)) c.H = draws.pick(kWidths);
  if (!reads_weights && draws.once_in(5)) c.H = draws.pick(kFree) + draws.pick<std::int64_t>({-1, 0, 0, 1});
}

// T and B of which T * B, the rows of a product over all steps, is one off a multiple of 64.
constexpr std::pair<std::int64_t, std::int64_t> kRowTiles[] = {
    {3, 21},  {3, 43},  {5, 13},  {5, 51},  {7, 9},   {7, 55},  {7, 73},  {9, 7},   {9, 57},
    {11, 93}, {15, 17}, {17, 15}, {23, 89}, {25, 41}, {31, 31}, {31, 33}, {33, 31}, {47, 15}};

void draw_steps(Case& c, Draws& draws) {
  constexpr std::int64_t kSteps[] = {1, 2, 2, 3, 8, 16, 32, 64}, kRows[] = {256, 1024, 4096};
  std::int64_t T = draws.pick(kSteps);
  if (draws.once_in(4)) T = (draws.pick(kRows) + c.B - 1) / c.B;
  if (draws.once_in(8)) std::tie(T, c.B) = draws.pick(kRowTiles);
  set_steps(c, T, T);
  if (c.T >= kManySteps) c.data = DataProfile::kTame;
}

Case draw_any(backgauge_op op, const Dtypes& dtypes, Draws& draws) {
  Case c{.op = op};
  c.dtype = draws.pick(std::span<const backgauge_dtype>(dtypes));
  for (const CaseAttribute& attribute : joined_attributes(op)) {
    attribute.set(c, draws.pick(std::span<const std::int32_t>(attribute.spec->values)));
  }
  draw_dimensions(c, draws);
  widen(c, draws);
  if (traits_of(op).has_layers) c.layers = draws.pick<std::int64_t>({1, 1, 2, 2, 3, 4, 8, 12});
  if (traits_of(op).has_steps) draw_steps(c, draws);
  return c;
}

}  // namespace

std::vector<CaseAttribute> joined_attributes(backgauge_op op) {
  constexpr std::string_view kNames[] = {"rnn_mode", "direction", "use_peephole"};
  std::vector<CaseAttribute> out;
  for (const CaseAttribute& attribute : case_attributes(traits_of(op))) {
    if (std::ranges::count(kNames, attribute.spec->name) > 0) out.push_back(attribute);
  }
  return out;
}

Case draw_mixed_sizes(backgauge_op op, const Dtypes& dtypes, Draws& draws) {
  for (;;) {
    Case c = draw_any(op, dtypes, draws);
    if (oracle_work(c) <= kMostWork && (c.layers == 1 || c.layers * c.T <= kMostLayerSteps)) return c;
  }
}

std::vector<Case> usual_mixture(backgauge_op op, const Dtypes& dtypes) {
  Draws draws(0, "sizes/usual");
  std::vector<Case> out;
  std::generate_n(std::back_inserter(out), kUsual, [&] { return draw_mixed_sizes(op, dtypes, draws); });
  return out;
}

}  // namespace backgauge
