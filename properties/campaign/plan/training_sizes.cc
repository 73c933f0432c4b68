// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/training_sizes.h"

#include <limits>
#include <numeric>

#include "properties/campaign/plan/ops/entry.h"
#include "properties/campaign/settings/oracle_work.h"
#include "properties/campaign/settings/size_mixture.h"
#include "properties/case/line/case_attributes.h"

namespace backgauge {
namespace {

struct Size {
  std::int64_t T, B, I, H, layers;
  bool frequent;
};

// Above H = 768 the weights allow one row at one step.
constexpr std::pair<std::int64_t, bool> kTrainingHidden[] = {
    {192, false}, {320, false}, {384, false},  {511, false},  {512, true},   {513, false}, {650, false},
    {768, false}, {1024, true}, {1025, false}, {1500, false}, {1536, false}, {2048, true}};
constexpr std::pair<std::int64_t, bool> kTrainingInputs[] = {{300, false},  {511, false},  {512, true},  {513, false},
                                                             {768, false},  {1023, false}, {1024, true}, {1025, false},
                                                             {1500, false}, {2048, false}};
constexpr std::pair<std::int64_t, bool> kTrainingBatches[] = {
    {20, false},  {63, false},  {64, true},   {65, false}, {96, false},  {127, false}, {128, true},
    {129, false}, {200, false}, {255, false}, {256, true}, {257, false}, {512, false}, {1024, false}};
constexpr std::pair<std::int64_t, bool> kTrainingSteps[] = {
    {15, false},  {16, false},  {17, false},  {34, false},   {35, true},   {63, false},  {64, false},
    {65, true},   {100, true},  {127, false}, {128, false},  {129, false}, {200, false}, {255, false},
    {256, false}, {257, false}, {512, false}, {1023, false}, {1024, true}, {1025, false}};
constexpr std::pair<std::int64_t, bool> kLayers[] = {{4, false}, {5, true}, {6, false},
                                                     {7, false}, {8, true}, {12, false}};
constexpr Size kTwoLarge[] = {
    {35, 20, 4, 65, 1, false},  {64, 128, 3, 4, 1, true},    {2, 128, 4, 256, 1, false}, {16, 64, 128, 128, 1, false},
    {2, 2, 512, 512, 1, false}, {32, 32, 64, 256, 1, false}, {100, 1, 3, 128, 1, false}, {2, 256, 512, 5, 1, false},
    {65, 64, 3, 17, 1, false},  {2, 64, 256, 129, 1, false}, {2, 72, 64, 64, 1, true},   {80, 2, 3, 160, 1, false},
    {2, 33, 16, 65, 1, false},
};
constexpr Size kTwoLargeStacked[] = {
    {65, 2, 3, 5, 4, false}, {2, 2, 3, 256, 4, false}, {2, 128, 3, 5, 5, false}, {35, 20, 3, 16, 3, false}};

// The most that a tier spends on a size, and on a single case. A size has at least one case if one is affordable.
struct Budget {
  double of_size, of_case;
};

Budget budget_of(SizeAmount amount, bool frequent) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  switch (amount) {
    case SizeAmount::kFew:
    case SizeAmount::kFrequent: return {0x1p16, 0x1.2p20};  // 36 ms and 0.6 s; all of them take about three seconds
    case SizeAmount::kGate:
      // 0.1 s and 1.4 s, an LSTM of H = 768; for frequent sizes 1.5 s, all modes of H = 512, and 2.6 s, an LSTM of
      // H = 1024. Most of the time for large cases is left to those with several large sizes (joint_sizes.h), which
      // find more.
      return frequent ? Budget{0x1.5p21, 0x1.2p22} : Budget{0x1.8p17, 0x1.4p21};
    case SizeAmount::kEvery: break;
  }
  return {kAny, kAny};
}

Case shaped(backgauge_op op, const Size& size) {
  const Case all{.T = size.T, .B = size.B, .I = size.I, .H = size.H, .seq_len_max = size.T, .layers = size.layers};
  Case c{.op = op};
  for (const SizeSpec& each : spec_of(op).sizes()) c.*case_member(each) = all.*case_member(each);
  if (size.T >= kManySteps) c.data = DataProfile::kTame;
  return c;
}

// Without those that are large only in a dimension that the op lacks.
std::vector<Size> sizes_of(backgauge_op op) {
  std::vector<Size> out;
  for (const auto& [H, frequent] : kTrainingHidden)
    out.push_back({H > 768 ? 1 : 2, H > 768 ? 1 : 2, 4, H, 1, frequent});
  for (const auto& [I, frequent] : kTrainingInputs) out.push_back({2, 2, I, 4, 1, frequent});
  for (const auto& [B, frequent] : kTrainingBatches) out.push_back({2, B, 3, 5, 1, frequent});
  for (const auto& [T, frequent] : kTrainingSteps) out.push_back({T, T < 256 ? 2 : 1, 3, 5, 1, frequent});
  out.insert(out.end(), std::begin(kTwoLarge), std::end(kTwoLarge));
  for (const auto& [layers, frequent] : kLayers) out.push_back({2, 2, 3, 4, layers, frequent});
  out.insert(out.end(), std::begin(kTwoLargeStacked), std::end(kTwoLargeStacked));
  std::erase_if(out, [op](const Size& size) {
    const Case c = shaped(op, size);
    return c.layers != size.layers || (c.T != size.T && size.T > 2);
  });
  return out;
}

// The affordable cases of a size, out of all variants with all dtypes. Each size starts with another variant and dtype,
// and neighbours differ in both.
std::vector<Case> affordable(backgauge_op op, const Dtypes& dtypes, const Size& size, const Budget& budget,
                             std::size_t turn) {
  const plan_ops::Entry& entry = plan_ops::entry_of(op);
  const std::size_t variants = entry.variants, round = std::lcm(variants, dtypes.size());
  std::vector<Case> out;
  double spent = 0;
  for (std::size_t k = 0; k < variants * dtypes.size(); ++k) {
    Case c = shaped(op, size);
    entry.choose_variant(c, (turn + k) % variants);
    entry.take_turn(c, turn);
    if (2 * oracle_work(c) > budget.of_size) c.direction = BACKGAUGE_UNIDIRECTIONAL;  // half the weights
    c.dtype = dtypes[(turn + k + k / round) % dtypes.size()];
    const double work = oracle_work(c);
    if (work > budget.of_case || (!out.empty() && spent + work > budget.of_size)) continue;
    spent += work;
    out.push_back(c);
  }
  return out;
}

}  // namespace

std::vector<Case> training_sizes(backgauge_op op, const Dtypes& dtypes, SizeAmount amount, Draws& draws) {
  std::vector<Case> out;
  std::size_t turn = 0;
  for (const Size& size : sizes_of(op)) {
    ++turn;
    if (amount <= SizeAmount::kFrequent && !size.frequent) continue;
    // Three cases of H = 1024 took a ninth of a smoke tier on an Intel Xeon at 2.5 GHz.
    if (amount == SizeAmount::kFew && size.H > 768) continue;
    for (Case& c : affordable(op, dtypes, size, budget_of(amount, size.frequent), turn)) {
      c.seed = draws.seed();
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace backgauge
