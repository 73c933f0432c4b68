// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/training_sizes.h"

#include <algorithm>

#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

struct Size {
  std::int64_t T, B, I, H, layers;
  bool frequent;
};

// H: what the weights cost, which grows with its square, allows one or two rows.
constexpr std::pair<std::int64_t, bool> kHidden[] = {
    {192, false}, {320, false}, {384, false}, {511, false},  {512, true},  {513, false},  {640, false},  {650, false},
    {767, false}, {768, false}, {769, false}, {1023, false}, {1024, true}, {1025, false}, {1500, false}, {2048, false}};
constexpr std::pair<std::int64_t, bool> kInputs[] = {{300, false},  {511, false},  {512, true},  {513, false},
                                                     {768, false},  {1023, false}, {1024, true}, {1025, false},
                                                     {1500, false}, {2048, false}};
constexpr std::pair<std::int64_t, bool> kBatches[] = {
    {20, false},  {63, false},  {64, true},   {65, false}, {96, false},  {127, false}, {128, true},
    {129, false}, {200, false}, {255, false}, {256, true}, {257, false}, {512, false}, {1024, false}};
constexpr std::pair<std::int64_t, bool> kSteps[] = {
    {15, false},  {16, false},  {17, false},  {34, false},   {35, true},   {63, false},  {64, false},
    {65, true},   {100, true},  {127, false}, {128, false},  {129, false}, {200, false}, {255, false},
    {256, false}, {257, false}, {512, false}, {1023, false}, {1024, true}, {1025, false}};
constexpr std::pair<std::int64_t, bool> kLayers[] = {{4, false}, {5, true}, {6, false}, {7, false}, {8, true}};
constexpr Size kTwoLarge[] = {
    {35, 20, 4, 65, 1, false},  {64, 128, 3, 4, 1, true},   {2, 128, 4, 256, 1, false}, {2, 2, 512, 512, 1, false},
    {100, 2, 3, 128, 1, false}, {2, 256, 512, 5, 1, false}, {65, 64, 3, 17, 1, false},  {2, 64, 256, 129, 1, false},
};
constexpr Size kTwoLargeStacked[] = {
    {65, 2, 3, 5, 4, false}, {2, 2, 3, 256, 4, false}, {2, 128, 3, 5, 5, false}, {35, 20, 3, 16, 3, false}};

constexpr backgauge_rnn_mode kModes[] = {BACKGAUGE_LSTM, BACKGAUGE_GRU, BACKGAUGE_RNN_TANH, BACKGAUGE_RNN_RELU};

// Nets of many steps need weights that let none of them grow: case/README.md.
constexpr std::int64_t kManySteps = 13;

// What a case costs is what the oracle makes of its weights, 24 disturbed evaluations among it: about 0.6 microseconds
// for each element on a processor of 2021, whatever the other dimensions are, as long as those are small. The limit of
// the gate is 2.5 seconds for one case, and a smoke tier is to end within 10 seconds.
constexpr std::int64_t kWeightsOfGate = std::int64_t{9} << 19, kWeightsOfSmoke = std::int64_t{9} << 17;
// Below this a case costs some hundredths of a second, and every dtype is affordable.
constexpr std::int64_t kFewWeights = std::int64_t{1} << 16;

std::int64_t weights_of(const Case& c) {
  if (c.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) return 0;  // never read
  if (c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) return 4 * c.H * (c.I + c.H);
  return rnn_params(attributes_of(c), c.I, c.H, c.layers).size();
}

std::vector<Size> sizes_of(backgauge_op op) {
  std::vector<Size> out;
  const bool cell = op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD;
  for (const auto& [H, frequent] : kHidden) out.push_back({H > 768 ? 1 : 2, H > 768 ? 1 : 2, 4, H, 1, frequent});
  for (const auto& [I, frequent] : kInputs) out.push_back({2, 2, I, 4, 1, frequent});
  for (const auto& [B, frequent] : kBatches) out.push_back({2, B, 3, 5, 1, frequent});
  if (!cell) {
    for (const auto& [T, frequent] : kSteps) out.push_back({T, T < 256 ? 2 : 1, 3, 5, 1, frequent});
  }
  for (const Size& size : kTwoLarge) {
    if (!cell || size.T == 2) out.push_back(size);
  }
  if (op != BACKGAUGE_CUDNN_RNN_BACKPROP) return out;
  for (const auto& [layers, frequent] : kLayers) out.push_back({2, 2, 3, 4, layers, frequent});
  out.insert(out.end(), std::begin(kTwoLargeStacked), std::end(kTwoLargeStacked));
  return out;
}

std::vector<backgauge_dtype> dtypes_of(backgauge_op op) {
  std::vector<backgauge_dtype> out;
  for (const backgauge_dtype dtype : {BACKGAUGE_FLOAT32, BACKGAUGE_HALF, BACKGAUGE_FLOAT64}) {
    if (find_op(op)->dtypes & BACKGAUGE_BIT(dtype)) out.push_back(dtype);
  }
  return out;
}

Case shaped(backgauge_op op, const Size& size) {
  Case c{.op = op, .T = size.T, .B = size.B, .I = size.I, .H = size.H};
  if (op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) c.T = 1;
  if (op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) c.seq_len_max = c.T;
  if (size.T >= kManySteps) c.data = DataClass::kTame;
  c.layers = size.layers;
  return c;
}

// Variant v of an op: its mode or peephole; direction and the way of the input take turns.
void choose(Case& c, std::size_t variant, std::size_t turn) {
  if (c.op != BACKGAUGE_CUDNN_RNN_BACKPROP) {
    c.use_peephole = variant == 0;
    return;
  }
  c.rnn_mode = kModes[variant];
  c.direction = (turn + variant) % 2 == 0 ? BACKGAUGE_UNIDIRECTIONAL : BACKGAUGE_BIDIRECTIONAL;
  c.input_mode = turn % 3 == 2 ? BACKGAUGE_AUTO_SELECT : BACKGAUGE_LINEAR_INPUT;
  if (weights_of(c) > kWeightsOfSmoke) c.direction = BACKGAUGE_UNIDIRECTIONAL;  // half the weights
}

// The variants of a size that a tier can afford: all that are cheap, and of the dear ones one, another from size to
// size.
std::vector<Case> variants_of(backgauge_op op, const Size& size, SizeAmount amount, std::size_t turn) {
  const std::size_t variants = op == BACKGAUGE_CUDNN_RNN_BACKPROP ? std::size(kModes) : 2;
  std::vector<Case> cheap, dear;
  for (std::size_t k = 0; k < variants; ++k) {
    Case c = shaped(op, size);
    choose(c, k, turn);
    const std::int64_t weights = weights_of(c);
    if (amount == SizeAmount::kGate && weights > kWeightsOfGate) continue;
    const bool is_dear = amount == SizeAmount::kFrequent ? weights > kFewWeights : weights > kWeightsOfSmoke;
    if (amount == SizeAmount::kFrequent && weights > kWeightsOfSmoke) continue;
    (is_dear && amount != SizeAmount::kEvery ? dear : cheap).push_back(c);
  }
  if (amount == SizeAmount::kFrequent && !cheap.empty()) {  // two, others from size to size
    std::rotate(cheap.begin(), cheap.begin() + static_cast<std::ptrdiff_t>(turn % cheap.size()), cheap.end());
    cheap.resize(std::min<std::size_t>(cheap.size(), 2));
  }
  if (!dear.empty()) cheap.push_back(dear[turn % dear.size()]);
  return cheap;
}

}  // namespace

std::vector<Case> training_sizes(backgauge_op op, SizeAmount amount, Draws& draws) {
  std::vector<Case> out;
  const std::vector<backgauge_dtype> dtypes = dtypes_of(op);
  std::size_t turn = 0;
  for (const Size& size : sizes_of(op)) {
    ++turn;
    if (amount == SizeAmount::kFrequent && !size.frequent) continue;
    std::size_t k = 0;
    for (Case& c : variants_of(op, size, amount, turn)) {
      const bool every = amount != SizeAmount::kFrequent && weights_of(c) <= kFewWeights;
      const std::size_t first = turn + k++;
      for (std::size_t d = 0; d < (every ? dtypes.size() : 1); ++d) {
        c.dtype = dtypes[(first + d) % dtypes.size()];
        c.seed = draws.seed();
        out.push_back(c);
      }
    }
  }
  return out;
}

}  // namespace backgauge
