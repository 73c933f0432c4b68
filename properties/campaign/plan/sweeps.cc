// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/plan/sweeps.h"

#include <algorithm>

#include "properties/campaign/plan/ops/entry.h"
#include "properties/campaign/settings/settings.h"

namespace backgauge {
namespace {

using plan_ops::Shapes;
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

void append(std::vector<Case> more, std::vector<Case>& out) { std::ranges::move(more, std::back_inserter(out)); }

}  // namespace

std::vector<Case> size_sweeps(backgauge_op op, backgauge_dtype dtype, bool thorough, Draws& draws) {
  const plan_ops::Entry& entry = plan_ops::entry_of(op);
  std::vector<Case> out;
  const std::vector<Case> all = plan_ops::variants_of(plain_case(op, dtype));
  for (std::size_t v = 0; v < all.size(); ++v) {
    Shapes shapes(all[v], draws);
    // Turns start at another setting for each dtype, so that all dtypes together have every pair.
    const auto mine = [&](std::size_t turn) {
      return thorough || (turn + static_cast<std::size_t>(dtype)) % all.size() == v;
    };
    const std::int64_t most_steps = entry.most_steps(all[v]);
    for (std::size_t k = 0; k < kWidths.size(); ++k) {
      if (kWidths[k] > kWide && !mine(k)) continue;
      entry.take_direction(shapes.base(), k);
      shapes.add(2, 3, kWidths[k] == 5 ? 7 : 5, kWidths[k], 2);
      shapes.add(2, 3, kWidths[k], 5, 2);
    }
    for (std::size_t k = 0; k < kSweptBatches.size(); ++k) {
      entry.take_direction(shapes.base(), k);
      shapes.add(2, kSweptBatches[k], 3, 5, 2);
    }
    for (std::size_t k = 0; k < kSweptSteps.size(); ++k) {
      if (kSweptSteps[k] > most_steps) continue;
      entry.take_direction(shapes.base(), k);
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
    plan_ops::entry_of(op).add_edge_shapes(shapes);
    append(shapes.take(), out);
  }
  return out;
}

std::vector<Case> sixteen_bit_limits(backgauge_op op, backgauge_dtype dtype, bool thorough, Draws& draws) {
  std::vector<Case> out, variants = plan_ops::variants_of(plain_case(op, dtype));
  // A single relu unit is off for most of its rows or for none; sums over them have no useful bound.
  std::erase_if(variants, [](const Case& c) { return c.rnn_mode == BACKGAUGE_RNN_RELU; });
  constexpr std::int64_t kRows[] = {65535, 65536, 65537};
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Case& variant = variants[v];
    Shapes shapes(variant, draws);
    for (std::size_t k = 0; k < std::size(kRows); ++k) {
      if (thorough || k % variants.size() == v) shapes.add(1, kRows[k], 1, 1, 1);
    }
    const std::int64_t most_steps = thorough ? plan_ops::entry_of(op).most_steps(variant) : 0;
    if (most_steps >= 3) {
      shapes.add(3, 21845, 1, 1, 3);  // 65535 = 3 * 21845; 65537 is a prime
      shapes.add(2, 32768, 1, 1, 2);
    }
    // Weights of the usual size sometimes have a gain above 1, and 1.02^65537 exceeds the range of every dtype.
    Case small = variant;
    small.data = DataProfile::kLinear;
    Shapes steps(small, draws);
    if (most_steps >= 65537) steps.add(65537, 1, 1, 1, 65537);
    append(steps.take(), out);
    append(shapes.take(), out);
  }
  return out;
}

std::vector<Case> index_limits(backgauge_op op, backgauge_dtype dtype, Draws& draws) {
  std::vector<Case> out;
  for (const Case& variant : plan_ops::variants_of(plain_case(op, dtype))) {
    Shapes shapes(variant, draws);
    plan_ops::entry_of(op).add_index_limits(shapes);
    append(shapes.take(), out);
  }
  return out;
}

}  // namespace backgauge
