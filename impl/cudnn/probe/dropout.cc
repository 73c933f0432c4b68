// SPDX-License-Identifier: Apache-2.0
// Question 6: the masks of dropout. A network of two layers shows its own: the first is the same everywhere, the second
// copies what it sees, and at T = 1 nothing else is in the output.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "impl/cudnn/probe/facts.h"
#include "impl/cudnn/probe/trial.h"

namespace backgauge::cudnn {
namespace {

NetworkShape dropping_shape(std::int32_t mode, std::int32_t dtype, float dropout) {
  NetworkShape shape = trial_shape(mode, dtype);
  shape.dropout = dropout;
  if (mode != BACKGAUGE_RNN_RELU) shape.T = 1;  // only relu forgets its state here
  return shape;
}

// Weights and first states that show the mask.
void show_mask(Trial& t) {
  const RnnParams params = t.shape.params();
  const std::int64_t candidate = t.shape.mode == BACKGAUGE_LSTM || t.shape.mode == BACKGAUGE_GRU ? 2 : 0;
  std::vector<double> weights(static_cast<std::size_t>(params.size()));
  const auto at = [&](std::int64_t offset) -> double& { return weights[static_cast<std::size_t>(offset)]; };
  for (std::int64_t j = 0; j < t.shape.H; ++j) {
    at(params.bW(0, 0, candidate) + j) = 1;
    at(params.W(1, 0, candidate) + j * t.shape.H + j) = 1;
  }
  store(t.weights, t.shape.dtype, weights);
  for (const DeviceMemory* memory : {&t.hx, &t.cx}) check(cudaMemset(memory->data(), 0, memory->bytes()), "cudaMemset");
}

std::vector<bool> kept(Trial& t) {
  std::vector<bool> out;
  for (const double value : values_of(t.y, t.shape.dtype)) out.push_back(value != 0);
  return out;
}

std::vector<bool> mask_of(const NetworkShape& shape) {
  Trial t(shape);
  show_mask(t);
  t.forward();
  return kept(t);
}

std::string compare(const std::vector<bool>& a, const std::vector<bool>& b) {
  if (a.size() != b.size()) return "not comparable";
  std::size_t different = 0;
  for (std::size_t k = 0; k < a.size(); ++k) different += a[k] != b[k] ? 1 : 0;
  return std::to_string(different) + " of " + std::to_string(a.size()) + " elements differ";
}

}  // namespace

void probe_dropout(Findings& findings) {
  findings.ask("6", "dropout 1: numbers of the forward and the backward that are not finite", [] {
    Trial t(dropping_shape(BACKGAUGE_RNN_RELU, BACKGAUGE_FLOAT32, 1));
    t.run();
    std::size_t odd = 0;
    for (const DeviceMemory* memory : {&t.y, &t.dx, &t.dw}) {
      for (const double value : values_of(*memory, BACKGAUGE_FLOAT32)) odd += std::isfinite(value) ? 0 : 1;
    }
    return std::to_string(odd);
  });
  for (const float dropout : {0.1f, 0.5f, 0.9f}) {
    char subject[64];
    std::snprintf(subject, sizeof subject, "dropout %.1f: values of mask / (1 - dropout)",
                  static_cast<double>(dropout));
    findings.ask("6", subject, [&] {
      Trial t(dropping_shape(BACKGAUGE_RNN_RELU, BACKGAUGE_FLOAT32, dropout));
      show_mask(t);
      t.forward();
      const std::vector<double> y = values_of(t.y, BACKGAUGE_FLOAT32);
      std::string out;
      for (const double value : std::set<double>(y.begin(), y.end())) {
        char text[32];
        std::snprintf(text, sizeof text, "%.9g ", value);
        out += text;
      }
      return out + "share kept " +
             std::to_string(static_cast<double>(std::ranges::count_if(y, [](double v) { return v != 0; })) /
                            static_cast<double>(y.size()));
    });
  }
  const NetworkShape usual = dropping_shape(BACKGAUGE_RNN_RELU, BACKGAUGE_FLOAT32, 0.5f);
  for (const std::int32_t mode : {BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    findings.ask("6", "mask of " + std::string(rnn_mode_word(mode)) + " against relu, T = 1", [&] {
      NetworkShape relu = usual;
      relu.T = 1;
      return compare(mask_of(relu), mask_of(dropping_shape(mode, BACKGAUGE_FLOAT32, 0.5f)));
    });
  }
  for (const std::int32_t dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT64}) {
    findings.ask("6", "mask of " + std::string(dtype_word(dtype)) + " against f32",
                 [&] { return compare(mask_of(usual), mask_of(dropping_shape(BACKGAUGE_RNN_RELU, dtype, 0.5f))); });
  }
  findings.ask("6", "mask with another input size", [&] {
    NetworkShape narrow = usual;
    narrow.I = 7;
    return compare(mask_of(usual), mask_of(narrow));
  });
  findings.ask("6", "mask of a second forward, states as they were left / set anew", [&] {
    Trial t(usual);
    show_mask(t);
    t.forward();
    const std::vector<bool> first = kept(t);
    t.forward(nullptr, false);
    const std::vector<bool> second = kept(t);
    t.forward();
    return compare(first, second) + " / " + compare(first, kept(t));
  });
}

}  // namespace backgauge::cudnn
