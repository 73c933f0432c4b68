// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/sweeps.h"

#include <algorithm>

#include "properties/campaign/plan/ops/entry.h"
#include "properties/campaign/settings/settings.h"

namespace backgauge {
namespace {

using Dims = std::vector<std::int64_t>;

Dims range(std::int64_t first, std::int64_t last, std::initializer_list<std::int64_t> more) {
  Dims out;
  for (std::int64_t k = first; k <= last; ++k) out.push_back(k);
  out.insert(out.end(), more);
  return out;
}

const Dims kWidths = range(1, 33, {47, 48, 49, 63, 64, 65, 127, 128, 129, 255, 256, 257});
const Dims kSweptBatches = range(1, 18, {31, 32, 33, 64, 65});
const Dims kSweptSteps = range(1, 9, {31, 32, 33});
constexpr std::int64_t kWide = 33;

// A case of the op with only the settings that it must have.
Case plain_case(backgauge_op op, backgauge_dtype dtype) { return {.op = op, .dtype = dtype}; }

class Shapes {
 public:
  Shapes(const Case& base, Draws& draws) : base_(base), draws_(draws) {}

  // seq_len_max S, for the op that has it; T = 1 for the one that has no steps.
  void add(std::int64_t T, std::int64_t B, std::int64_t I, std::int64_t H, std::int64_t S) {
    Case c = base_;
    set_steps(c, T, S);
    c.B = B, c.I = I, c.H = H;
    c.seed = draws_.seed();
    out_.push_back(std::move(c));
  }
  // Layers, direction and dropout of the cases added from now on, if the op has layers.
  void set_layers(std::int64_t layers, backgauge_direction direction, double dropout) {
    if (!traits_of(base_.op).has_layers) return;
    base_.layers = layers, base_.direction = direction, base_.dropout = dropout;
  }
  std::vector<Case> take() { return std::move(out_); }

 private:
  Case base_;
  Draws& draws_;
  std::vector<Case> out_;
};

void append(std::vector<Case> more, std::vector<Case>& out) { std::ranges::move(more, std::back_inserter(out)); }

// Long nets with a gain above 1 are chaotic, so that no bound is meaningful. relu nets are used there: the rows of
// their R add up to less than 1 (case/README.md), and their states stay bounded. Saved states are not computed again.
bool stays_tame(const Case& c, std::int64_t steps) {
  return traits_of(c.op).takes_saved || steps <= 9 || c.rnn_mode == BACKGAUGE_RNN_RELU;
}

}  // namespace

std::vector<Case> size_sweeps(backgauge_op op, backgauge_dtype dtype, bool thorough, Draws& draws) {
  std::vector<Case> out;
  const std::vector<Case> all = plan_ops::variants_of(plain_case(op, dtype));
  for (std::size_t v = 0; v < all.size(); ++v) {
    Shapes shapes(all[v], draws);
    // Turns start at another setting for each dtype, so that all dtypes together have every pair.
    const auto mine = [&](std::size_t turn) {
      return thorough || (turn + static_cast<std::size_t>(dtype)) % all.size() == v;
    };
    const auto direction = [&](std::size_t turn) {
      shapes.set_layers(1, turn % 2 == 0 ? BACKGAUGE_UNIDIRECTIONAL : BACKGAUGE_BIDIRECTIONAL, 0);
    };
    for (std::size_t k = 0; k < kWidths.size(); ++k) {
      if (kWidths[k] > kWide && !mine(k)) continue;
      direction(k);
      shapes.add(2, 3, kWidths[k] == 5 ? 7 : 5, kWidths[k], 2);
      shapes.add(2, 3, kWidths[k], 5, 2);
    }
    for (std::size_t k = 0; k < kSweptBatches.size(); ++k) {
      direction(k);
      shapes.add(2, kSweptBatches[k], 3, 5, 2);
    }
    if (!traits_of(op).has_steps) {
      append(shapes.take(), out);
      continue;
    }
    for (std::size_t k = 0; k < kSweptSteps.size(); ++k) {
      if (!stays_tame(all[v], kSweptSteps[k])) continue;
      direction(k);
      shapes.add(kSweptSteps[k], 2, 3, 5, kSweptSteps[k]);
    }
    append(shapes.take(), out);
  }
  return out;
}

std::vector<Case> edge_shapes(backgauge_op op, backgauge_dtype dtype, Draws& draws) {
  std::vector<Case> out;
  for (const Case& variant : plan_ops::variants_of(plain_case(op, dtype))) {
    Shapes shapes(variant, draws);
    shapes.add(1, 1, 1, 1, 1);   // one of everything
    shapes.add(3, 0, 5, 7, 2);   // no batch
    shapes.add(3, 2, 0, 5, 2);   // no input
    shapes.add(2, 3, 5, 7, 0);   // no step taken
    shapes.add(3, 3, 3, 3, 3);   // all equal
    shapes.add(2, 3, 5, 5, 2);   // I = H
    shapes.add(2, 5, 9, 3, 2);   // I = 3H: I + H = 4H, w is square
    shapes.add(2, 3, 10, 5, 2);  // I = 2H: as wide as the output of a bidirectional layer
    shapes.add(5, 5, 2, 7, 4);   // T = B
    shapes.add(3, 7, 5, 7, 3);   // B = H
    shapes.add(3, 5, 5, 7, 3);   // B = I
    shapes.add(3, 7, 7, 7, 3);   // B = I = H
    shapes.add(7, 2, 3, 7, 6);   // T = H
    shapes.add(3, 2, 3, 5, 2);   // T = I
    shapes.add(2, 8, 3, 2, 2);   // B = 4H
    shapes.add(2, 65, 3, 33, 2);
    if (traits_of(op).has_seq_len_max) {
      shapes.add(0, 3, 5, 7, 0);  // no step there
      for (std::int64_t S = 0; S <= 5; ++S) shapes.add(5, 3, 2, 7, S);
    }
    if (traits_of(op).has_layers) {
      shapes.set_layers(2, BACKGAUGE_BIDIRECTIONAL, 0.5);
      shapes.add(2, 0, 3, 5, 2);  // no batch
      shapes.add(1, 1, 1, 1, 1);
      shapes.add(3, 3, 10, 5, 3);  // I = 2H: every layer is as wide
      shapes.set_layers(1, BACKGAUGE_BIDIRECTIONAL, 0);
      shapes.add(2, 19, 3, 33, 2);
      shapes.add(5, 2, 0, 3, 5);  // no input
    }
    append(shapes.take(), out);
  }
  return out;
}

std::vector<Case> sixteen_bit_limits(backgauge_op op, backgauge_dtype dtype, bool thorough, Draws& draws) {
  std::vector<Case> out;
  for (const Case& variant : plan_ops::variants_of(plain_case(op, dtype))) {
    // A single relu unit is off for most of its rows or for none; sums over them have no useful bound.
    if (variant.rnn_mode == BACKGAUGE_RNN_RELU) continue;
    Shapes shapes(variant, draws);
    for (const std::int64_t B : {65535, 65536, 65537}) shapes.add(1, B, 1, 1, 1);
    if (traits_of(op).has_steps && thorough) {
      shapes.add(3, 21845, 1, 1, 3);  // 65535 = 3 * 21845; 65537 is a prime
      shapes.add(2, 32768, 1, 1, 2);
      // Weights of the usual size sometimes have a gain above 1, and 1.02^65537 exceeds the range of every dtype.
      Case small = variant;
      if (traits_of(op).has_seq_len_max) small.data = DataProfile::kLinear;
      Shapes steps(small, draws);
      if (stays_tame(variant, 65537)) steps.add(65537, 1, 1, 1, 65537);
      append(steps.take(), out);
    }
    append(shapes.take(), out);
  }
  return out;
}

std::vector<Case> index_limits(backgauge_op op, backgauge_dtype dtype, Draws& draws) {
  std::vector<Case> out;
  for (const Case& variant : plan_ops::variants_of(plain_case(op, dtype))) {
    Shapes shapes(variant, draws);
    if (!traits_of(op).has_steps) {
      // w, which is not read, has 4H (I + H) elements: the first H for which they exceed 2^29, 2^30 and 2^31.
      for (const std::int64_t H : {11585, 16384, 23170}) shapes.add(1, 1, 1, H, 1);
      shapes.add(1, 3, std::int64_t{1} << 29, 1, 1);
    }
    if (traits_of(op).has_seq_len_max) {
      // T * B * H elements in nine tensors, of which three steps are read; without input x_grad has none.
      for (const std::int64_t T : {89478486, 178956971, 357913942}) shapes.add(T, 2, 0, 3, 3);
    }
    append(shapes.take(), out);
  }
  return out;
}

}  // namespace backgauge
