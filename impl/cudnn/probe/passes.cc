// SPDX-License-Identifier: Apache-2.0
// Questions 2, 3 and 7: what the passes do to reserve_space and to the gradient of the weights, and whether they
// repeat.
#include <algorithm>
#include <cmath>
#include <set>

#include "impl/cudnn/probe/facts.h"
#include "impl/cudnn/probe/trial.h"

namespace backgauge::cudnn {
namespace {

void restore(const DeviceMemory& memory, const Bytes& bytes) {
  check(cudaMemcpy(memory.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

// To be kept in a set.
std::string as_string(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string bytes_text(std::size_t different, std::size_t all) {
  return std::to_string(different) + " of " + std::to_string(all) + " bytes differ";
}

void probe_reserve_of(Findings& findings, std::int32_t mode) {
  const std::string word(rnn_mode_word(mode));
  findings.ask("2", word + ": the reserve after BackwardData", [&] {
    Trial t(trial_shape(mode, BACKGAUGE_FLOAT32));
    t.forward();
    const Bytes made = bytes_of(t.reserve);
    t.backward_data();
    const Bytes after_data = bytes_of(t.reserve);
    t.backward_weights();
    return bytes_text(differing(made, after_data), made.size()) + ", after BackwardWeights another " +
           std::to_string(differing(after_data, bytes_of(t.reserve)));
  });
  findings.ask("2", word + ": dx and dw of a second backward, reserve restored / as it was left", [&] {
    Trial t(trial_shape(mode, BACKGAUGE_FLOAT32));
    t.forward();
    const Bytes made = bytes_of(t.reserve);
    t.backward();
    const Bytes dx = bytes_of(t.dx), dw = bytes_of(t.dw);
    restore(t.reserve, made);
    t.backward();
    const std::size_t restored = differing(dx, bytes_of(t.dx)) + differing(dw, bytes_of(t.dw));
    t.backward();
    return bytes_text(restored, dx.size() + dw.size()) + " / " +
           std::to_string(differing(dx, bytes_of(t.dx)) + differing(dw, bytes_of(t.dw)));
  });
  findings.ask("2", word + ": dw from a reserve that BackwardData has not seen", [&] {
    Trial t(trial_shape(mode, BACKGAUGE_FLOAT32));
    t.forward();
    const Bytes made = bytes_of(t.reserve);
    t.backward();
    const Bytes dw = bytes_of(t.dw);
    restore(t.reserve, made);
    t.backward_weights();
    return bytes_text(differing(dw, bytes_of(t.dw)), dw.size());
  });
}

}  // namespace

void probe_reserve(Findings& findings) {
  for (const std::int32_t mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    probe_reserve_of(findings, mode);
  }
  findings.ask("3", "CUDNN_WGRAD_MODE_SET over stale dw, against ADD over zeros", [] {
    Trial t(trial_shape(BACKGAUGE_LSTM, BACKGAUGE_FLOAT32));
    t.run();
    const Bytes added = bytes_of(t.dw);
    t.forward();
    t.backward_data();
    check(cudaMemset(t.dw.data(), 0x3c, t.dw.bytes()), "cudaMemset");
    t.backward_weights(CUDNN_WGRAD_MODE_SET, false);
    return bytes_text(differing(added, bytes_of(t.dw)), added.size());
  });
  findings.ask("3", "ADD a second time, against twice the first (largest difference)", [] {
    Trial t(trial_shape(BACKGAUGE_LSTM, BACKGAUGE_FLOAT32));
    t.run();
    const std::vector<double> once = values_of(t.dw, BACKGAUGE_FLOAT32);
    t.forward();
    t.backward_data();
    t.backward_weights(CUDNN_WGRAD_MODE_ADD, false);
    const std::vector<double> twice = values_of(t.dw, BACKGAUGE_FLOAT32);
    double largest = 0;
    for (std::size_t k = 0; k < once.size(); ++k) largest = std::max(largest, std::fabs(twice[k] - 2 * once[k]));
    return std::to_string(largest);
  });
}

void probe_repeats(Findings& findings) {
  constexpr int kRuns = 20;
  for (const std::int32_t mode : {BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    for (const std::int32_t dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
      const std::string words = std::string(rnn_mode_word(mode)) + " " + std::string(dtype_word(dtype));
      findings.ask("7", words + ": different y, dx, dw in 20 runs", [&] {
        NetworkShape shape = trial_shape(mode, dtype);
        shape.T = 50;
        shape.B = 32;
        shape.I = shape.H = 512;  // large enough for several streams
        shape.direction = BACKGAUGE_BIDIRECTIONAL;
        Trial t(shape);
        std::set<std::string> y, dx, dw;
        for (int run = 0; run < kRuns; ++run) {
          t.run();
          y.insert(as_string(bytes_of(t.y)));
          dx.insert(as_string(bytes_of(t.dx)));
          dw.insert(as_string(bytes_of(t.dw)));
        }
        return std::to_string(y.size()) + ", " + std::to_string(dx.size()) + ", " + std::to_string(dw.size());
      });
    }
  }
}

}  // namespace backgauge::cudnn
