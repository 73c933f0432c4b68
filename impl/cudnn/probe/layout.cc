// SPDX-License-Identifier: Apache-2.0
// Question 1: whether the flat buffer of weights has the layout and sizes of rnn_params, in every mode and shape.
#include "impl/cudnn/plans.h"
#include "impl/cudnn/probe/facts.h"
#include "impl/cudnn/probe/trial.h"

namespace backgauge::cudnn {
namespace {

struct Input {
  std::int64_t size;
  bool skip;
};

// "36 of 36 shapes as rnn_params", and the first that is not.
std::string compare_layouts(std::int32_t mode, std::int32_t dtype) {
  int right = 0, all = 0;
  std::string first;
  NetworkShape shape = trial_shape(mode, dtype);
  for (const std::int32_t direction : {BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL}) {
    for (const std::int64_t layers : {1, 2, 3}) {
      // An odd width: nothing is padded by chance.
      for (const Input input : {Input{24, false}, Input{7, false}, Input{32, false}, Input{32, true}}) {
        shape.direction = direction;
        shape.L = layers;
        shape.I = input.size;
        shape.skip = input.skip;
        ++all;
        try {
          checked_sizes(shape);
          ++right;
        } catch (const CallError& failure) {
          if (first.empty()) first = std::string("; ") + failure.what();
        }
      }
    }
  }
  return std::to_string(right) + " of " + std::to_string(all) + " shapes as rnn_params" + first;
}

std::string sizes_text(const NetworkShape& shape) {
  const NetworkSizes sizes = checked_sizes(shape);
  return "weights " + std::to_string(sizes.weights) + ", workspace " + std::to_string(sizes.workspace) + ", reserve " +
         std::to_string(sizes.reserve) + ", states " + std::to_string(sizes.states);
}

}  // namespace

void probe_layout(Findings& findings) {
  for (const std::int32_t mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    for (const std::int32_t dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64}) {
      const std::string words = std::string(rnn_mode_word(mode)) + " " + std::string(dtype_word(dtype));
      findings.ask("1", words + ": layout", [&] { return compare_layouts(mode, dtype); });
      for (const float dropout : {0.0f, 0.5f}) {
        NetworkShape shape = trial_shape(mode, dtype);
        shape.dropout = dropout;
        findings.ask("1", words + ": bytes, t6b4i24h32 layers=2 drop=" + (dropout > 0 ? "0.5" : "0"),
                     [&] { return sizes_text(shape); });
      }
    }
  }
}

}  // namespace backgauge::cudnn
