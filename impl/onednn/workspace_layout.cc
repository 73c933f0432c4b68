// SPDX-License-Identifier: Apache-2.0
#include "impl/onednn/workspace_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

namespace backgauge::onednn {
namespace {

using Floats = std::vector<float>;

// Memory as oneDNN allocates its own.
class Aligned {
 public:
  explicit Aligned(std::size_t bytes) : size_(bytes / sizeof(float)) {
    constexpr std::size_t kPage = 4096;
    data_ = static_cast<float*>(std::aligned_alloc(kPage, (bytes + kPage) / kPage * kPage));
    if (data_ == nullptr) throw std::bad_alloc();
    std::fill_n(data_, size_, std::numeric_limits<float>::quiet_NaN());
  }
  ~Aligned() { std::free(data_); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;

  float* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<const float> view() const { return {data_, size_}; }

 private:
  float* data_ = nullptr;
  std::size_t size_;
};

// An array that is looked for. What oneDNN's own tanh and logistic sigmoid make differs from ours by a few units in the
// last place; values that are unlike differ by far more in a whole row.
struct Wanted {
  const Floats& values;
  std::int64_t steps, rows, width;

  static constexpr float kTolerance = 1e-5f;

  bool row_is_at(std::span<const float> memory, std::int64_t at, std::int64_t step, std::int64_t row) const {
    if (at < 0 || at + width > static_cast<std::int64_t>(memory.size())) return false;
    const float* want = values.data() + (step * rows + row) * width;
    for (std::int64_t j = 0; j < width; ++j) {
      if (!(std::fabs(memory[static_cast<std::size_t>(at + j)] - want[j]) <= kTolerance)) return false;
    }
    return true;
  }

  bool is_at(std::span<const float> memory, const Place& place) const {
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::int64_t row = 0; row < rows; ++row) {
        if (!row_is_at(memory, place.begin + step * place.step + row * place.row, step, row)) return false;
      }
    }
    return true;
  }
};

// Steps do not overlap and come in the order of time; rows of a step come in theirs.
Place find(std::span<const float> memory, const Wanted& wanted) {
  const auto end = static_cast<std::int64_t>(memory.size());
  Place place{.steps = wanted.steps, .rows = wanted.rows, .width = wanted.width};
  if (wanted.steps == 0) return place;
  for (place.begin = 0; place.begin + wanted.width <= end; ++place.begin) {
    if (!wanted.row_is_at(memory, place.begin, 0, 0)) continue;
    place.row = wanted.width;
    const std::int64_t last_row = wanted.rows > 1 ? end - place.begin : place.row;
    for (; place.row <= last_row; ++place.row) {
      if (wanted.rows > 1 && !wanted.row_is_at(memory, place.begin + place.row, 0, 1)) continue;
      place.step = place.row * wanted.rows;
      const std::int64_t last_step = wanted.steps > 1 ? end - place.begin : place.step;
      for (; place.step <= last_step; ++place.step) {
        if (wanted.steps > 1 && !wanted.row_is_at(memory, place.begin + place.step, 1, 0)) continue;
        if (wanted.is_at(memory, place)) return place;
      }
    }
  }
  return {};
}

float sigmoid(float v) { return 1 / (1 + std::exp(-v)); }

// A sequence whose forward is known without a product of matrices: of x only the first input counts, and nothing of h.
struct Known {
  explicit Known(const LayerShape& s, unsigned seed)
      : random(seed),
        x(uniform(s.T * s.B * s.I, 1)),
        h_prev(uniform(s.B * s.H, 1)),
        cs_prev(uniform(s.B * s.H, 1)),
        bias(uniform(4 * s.H, 1)),
        weights_layer(s.I * 4 * s.H),
        weights_iter(s.H * 4 * s.H),
        peephole(3 * s.H),
        h(s.T * s.B * s.H),
        cs(s.T * s.B * s.H) {
    const Floats first = uniform(4 * s.H, 1);
    std::ranges::copy(first, weights_layer.begin());
    for (Floats& gate : gates) gate.resize(h.size());
    for (std::int64_t t = 0; t < s.T; ++t) {
      for (std::int64_t k = 0; k < s.B * s.H; ++k) {
        const std::int64_t at = t * s.B * s.H + k, unit = k % s.H;
        const float input = x[(t * s.B + k / s.H) * s.I];
        const auto sum = [&](std::int64_t gate) { return input * first[gate * s.H + unit] + bias[gate * s.H + unit]; };
        const float i = sigmoid(sum(0)), f = sigmoid(sum(1)), ci = std::tanh(sum(2)), o = sigmoid(sum(3));
        const float before = t == 0 ? cs_prev[k] : cs[at - s.B * s.H];
        gates[0][at] = i;
        gates[1][at] = f;
        gates[2][at] = ci;
        gates[3][at] = o;
        cs[at] = f * before + i * ci;
        h[at] = o * std::tanh(cs[at]);
      }
    }
  }

  Floats uniform(std::int64_t count, float bound) {
    std::uniform_real_distribution<float> distribution(-bound, bound);
    Floats values(static_cast<std::size_t>(count));
    for (float& value : values) value = distribution(random);
    return values;
  }

  std::mt19937 random;
  Floats x, h_prev, cs_prev, bias, weights_layer, weights_iter, peephole, h, cs;
  std::array<Floats, 4> gates;
};

constexpr GateRange kAllGates{0, 4};

// What the backward gives on a workspace, all of it in a row.
Floats backward(const Layer& layer, Known& known, const Floats& dst_layer, const Floats& dst_iter_c,
                const Floats& weights_layer, const Floats& weights_iter, const float* workspace) {
  const LayerShape& s = layer.shape;
  const WeightStrides strides{0, 4 * s.H, s.H, 1};
  const auto size = [&](int argument) { return layer.bytes(Pass::kBackward, argument); };
  Aligned packed_layer(size(DNNL_ARG_WEIGHTS_LAYER)), packed_iter(size(DNNL_ARG_WEIGHTS_ITER));
  Aligned scratchpad(size(DNNL_ARG_SCRATCHPAD));
  layer.weights_in(Pass::kBackward, Side::kInput, strides, kAllGates)(weights_layer.data(), packed_layer.data());
  layer.weights_in(Pass::kBackward, Side::kRecurrent, strides, kAllGates)(weights_iter.data(), packed_iter.data());
  std::mt19937 same(1);
  std::swap(same, known.random);
  const Floats diff_layer = known.uniform(s.T * s.B * s.H, 1), diff_h = known.uniform(s.B * s.H, 1);
  const Floats diff_c = known.uniform(s.B * s.H, 1), peephole = known.uniform(3 * s.H, 1);
  std::swap(same, known.random);
  Arguments arguments = {
      {DNNL_ARG_SRC_LAYER, known.x.data()},         {DNNL_ARG_SRC_ITER, known.h_prev.data()},
      {DNNL_ARG_SRC_ITER_C, known.cs_prev.data()},  {DNNL_ARG_WEIGHTS_LAYER, packed_layer.data()},
      {DNNL_ARG_WEIGHTS_ITER, packed_iter.data()},  {DNNL_ARG_BIAS, known.bias.data()},
      {DNNL_ARG_DST_LAYER, dst_layer.data()},       {DNNL_ARG_DST_ITER, dst_layer.data() + (s.T - 1) * s.B * s.H},
      {DNNL_ARG_DST_ITER_C, dst_iter_c.data()},     {DNNL_ARG_WORKSPACE, workspace},
      {DNNL_ARG_DIFF_DST_LAYER, diff_layer.data()}, {DNNL_ARG_DIFF_DST_ITER, diff_h.data()},
      {DNNL_ARG_DIFF_DST_ITER_C, diff_c.data()},    {DNNL_ARG_SCRATCHPAD, scratchpad.data()}};
  std::vector<int> gradients = {DNNL_ARG_DIFF_SRC_LAYER,     DNNL_ARG_DIFF_SRC_ITER,     DNNL_ARG_DIFF_SRC_ITER_C,
                                DNNL_ARG_DIFF_WEIGHTS_LAYER, DNNL_ARG_DIFF_WEIGHTS_ITER, DNNL_ARG_DIFF_BIAS};
  if (s.peephole) {
    arguments.emplace(DNNL_ARG_WEIGHTS_PEEPHOLE, peephole.data());
    gradients.push_back(DNNL_ARG_DIFF_WEIGHTS_PEEPHOLE);
  }
  std::vector<Floats> outputs;
  for (const int argument : gradients) outputs.emplace_back(size(argument) / sizeof(float));
  for (std::size_t k = 0; k < gradients.size(); ++k) arguments.emplace(gradients[k], outputs[k].data());
  layer.execute(Pass::kBackward, arguments);
  Floats all;
  for (const Floats& output : outputs) all.insert(all.end(), output.begin(), output.end());
  return all;
}

WorkspaceLayout find_with(const Layer& layer, unsigned seed) {
  const LayerShape& s = layer.shape;
  Known known(s, seed);
  const WeightStrides strides{0, 4 * s.H, s.H, 1};
  const auto size = [&](int argument) { return layer.bytes(Pass::kForward, argument); };
  Aligned packed_layer(size(DNNL_ARG_WEIGHTS_LAYER)), packed_iter(size(DNNL_ARG_WEIGHTS_ITER));
  Aligned scratchpad(size(DNNL_ARG_SCRATCHPAD)), workspace(size(DNNL_ARG_WORKSPACE));
  layer.weights_in(Pass::kForward, Side::kInput, strides, kAllGates)(known.weights_layer.data(), packed_layer.data());
  layer.weights_in(Pass::kForward, Side::kRecurrent, strides, kAllGates)(known.weights_iter.data(), packed_iter.data());
  Floats dst_layer(known.h.size()), dst_iter(known.h_prev.size()), dst_iter_c(known.h_prev.size());
  Arguments arguments = {{DNNL_ARG_SRC_LAYER, known.x.data()},        {DNNL_ARG_SRC_ITER, known.h_prev.data()},
                         {DNNL_ARG_SRC_ITER_C, known.cs_prev.data()}, {DNNL_ARG_WEIGHTS_LAYER, packed_layer.data()},
                         {DNNL_ARG_WEIGHTS_ITER, packed_iter.data()}, {DNNL_ARG_BIAS, known.bias.data()},
                         {DNNL_ARG_DST_LAYER, dst_layer.data()},      {DNNL_ARG_DST_ITER, dst_iter.data()},
                         {DNNL_ARG_DST_ITER_C, dst_iter_c.data()},    {DNNL_ARG_WORKSPACE, workspace.data()},
                         {DNNL_ARG_SCRATCHPAD, scratchpad.data()}};
  if (s.peephole) arguments.emplace(DNNL_ARG_WEIGHTS_PEEPHOLE, known.peephole.data());
  layer.execute(Pass::kForward, arguments);

  WorkspaceLayout layout;
  const std::span<const float> memory = workspace.view();
  for (std::size_t gate = 0; gate < 4; ++gate) {
    layout.gates[gate] = find(memory, {known.gates[gate], s.T, s.B, s.H});
    if (layout.gates[gate].steps == 0) throw std::runtime_error("the gates are not found in oneDNN's workspace");
  }
  layout.x = find(memory, {known.x, s.T, s.B, s.I});
  layout.h_prev = find(memory, {known.h_prev, 1, s.B, s.H});
  layout.cs_prev = find(memory, {known.cs_prev, 1, s.B, s.H});
  layout.h = find(memory, {dst_layer, s.T - 1, s.B, s.H});
  layout.cs = find(memory, {known.cs, s.T - 1, s.B, s.H});

  const Floats weights_layer = known.uniform(s.I * 4 * s.H, 1), weights_iter = known.uniform(s.H * 4 * s.H, 1);
  const Floats want = backward(layer, known, dst_layer, dst_iter_c, weights_layer, weights_iter, workspace.data());
  Aligned filled(size(DNNL_ARG_WORKSPACE));
  layout.fill(filled.data(),
              {known.x.data(),
               known.h_prev.data(),
               known.cs_prev.data(),
               {known.gates[0].data(), known.gates[1].data(), known.gates[2].data(), known.gates[3].data()},
               dst_layer.data(),
               known.cs.data()});
  // The contract does not allow reading h of the last step.
  std::fill(dst_layer.end() - s.B * s.H, dst_layer.end(), std::numeric_limits<float>::quiet_NaN());
  const Floats got = backward(layer, known, dst_layer, dst_iter_c, weights_layer, weights_iter, filled.data());
  float largest = 0, distance = 0;
  for (std::size_t k = 0; k < want.size(); ++k) {
    largest = std::max(largest, std::fabs(want[k]));
    const float difference = std::fabs(got[k] - want[k]);
    if (!(difference <= std::numeric_limits<float>::max())) {
      throw std::runtime_error("oneDNN's backward reads more of its workspace than was found in it");
    }
    distance = std::max(distance, difference);
  }
  // Saved values differ by Wanted::kTolerance at most, and a wrong one differs by about 1.
  constexpr float kAlike = 1e-3f;
  if (!(distance <= kAlike * largest)) throw std::runtime_error("oneDNN's workspace is laid out in an unknown way");
  return layout;
}

}  // namespace

void Place::fill(float* workspace, const float* values) const {
  for (std::int64_t k = 0; k < steps; ++k) {
    for (std::int64_t r = 0; r < rows; ++r, values += width) {
      std::copy_n(values, width, workspace + begin + k * step + r * row);
    }
  }
}

void WorkspaceLayout::fill(float* workspace, const SavedTensors& saved) const {
  x.fill(workspace, saved.x);
  h_prev.fill(workspace, saved.h_prev);
  cs_prev.fill(workspace, saved.cs_prev);
  h.fill(workspace, saved.h);
  cs.fill(workspace, saved.cs);
  for (std::size_t gate = 0; gate < 4; ++gate) gates[gate].fill(workspace, saved.gates[gate]);
}

WorkspaceLayout find_workspace_layout(const Layer& layer) {
  // In a tiny sequence two values may be alike; not in each of some.
  constexpr unsigned kTries = 4;
  for (unsigned seed = 1;; ++seed) {
    try {
      return find_with(layer, seed);
    } catch (const std::runtime_error&) {
      if (seed == kTries) throw;
    }
  }
}

}  // namespace backgauge::onednn
