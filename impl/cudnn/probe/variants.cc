// SPDX-License-Identifier: Apache-2.0
// Questions 5, 8 and 9: settings that can be given in two ways, the precision of each math type, and details.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "impl/cudnn/probe/facts.h"
#include "impl/cudnn/probe/trial.h"

namespace backgauge::cudnn {
namespace {

// How many bytes of y, dx and dw differ between two ways.
std::string difference(Trial& first, Trial& second) {
  return std::to_string(differing(bytes_of(first.y), bytes_of(second.y))) + " of y, " +
         std::to_string(differing(bytes_of(first.dx), bytes_of(second.dx))) + " of dx, " +
         std::to_string(differing(bytes_of(first.dw), bytes_of(second.dw))) + " of dw";
}

std::string compare(const std::function<void(Trial&)>& change) {
  const NetworkShape shape = trial_shape(BACKGAUGE_LSTM, BACKGAUGE_FLOAT32);
  Trial usual(shape), other(shape);
  change(other);
  for (Trial* trial : {&usual, &other}) trial->run();
  return difference(usual, other) + " (bytes that differ)";
}

double largest_error(const std::vector<double>& got, const std::vector<double>& want) {
  double error = 0, size = 0;
  for (std::size_t k = 0; k < want.size(); ++k) {
    error = std::max(error, std::fabs(got[k] - want[k]));
    size = std::max(size, std::fabs(want[k]));
  }
  return error / size;
}

std::string errors_of(std::int32_t mode, std::int32_t dtype, cudnnMathType_t math) {
  NetworkShape shape = trial_shape(mode, dtype);
  shape.H = shape.I = 128;
  shape.T = 20;
  shape.math = math;
  NetworkShape exact = shape;
  exact.dtype = BACKGAUGE_FLOAT64;
  exact.math = CUDNN_FMA_MATH;
  Trial trial(shape), truth(exact, dtype);
  for (Trial* each : {&trial, &truth}) each->run();
  char text[80];
  std::snprintf(text, sizeof text, "y %.2g, dx %.2g, dw %.2g of the largest",
                largest_error(values_of(trial.y, dtype), values_of(truth.y, BACKGAUGE_FLOAT64)),
                largest_error(values_of(trial.dx, dtype), values_of(truth.dx, BACKGAUGE_FLOAT64)),
                largest_error(values_of(trial.dw, dtype), values_of(truth.dw, BACKGAUGE_FLOAT64)));
  return text;
}

// Gates whose gradients of bW and bR differ in some bit.
std::string unequal_biases(std::int32_t mode) {
  const NetworkShape shape = trial_shape(mode, BACKGAUGE_FLOAT32);
  Trial t(shape);
  t.run();
  const RnnParams params = shape.params();
  const std::vector<double> dw = values_of(t.dw, BACKGAUGE_FLOAT32);
  std::string out;
  for (std::int64_t gate = 0; gate < params.gates; ++gate) {
    const auto first = dw.begin() + params.bW(0, 0, gate), second = dw.begin() + params.bR(0, 0, gate);
    if (!std::equal(first, first + shape.H, second)) out += " " + std::to_string(gate);
  }
  return out.empty() ? "equal in all gates" : "different in gates" + out;
}

}  // namespace

void probe_variants(Findings& findings) {
  findings.ask("5", "UNPACKED, padded IO disabled, against PACKED", [] {
    return compare([](Trial& t) {
      t.variant = {CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, CUDNN_RNN_PADDED_IO_DISABLED};
    });
  });
  findings.ask("5", "UNPACKED, padded IO enabled, against PACKED", [] {
    return compare([](Trial& t) {
      t.variant = {CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, CUDNN_RNN_PADDED_IO_ENABLED};
    });
  });
  findings.ask("5", "devSeqLengths in device memory, against NULL: y", [] {
    const NetworkShape shape = trial_shape(BACKGAUGE_LSTM, BACKGAUGE_FLOAT32);
    Trial usual(shape), other(shape);
    const std::vector<std::int32_t> lengths(static_cast<std::size_t>(shape.B), static_cast<std::int32_t>(shape.T));
    const DeviceMemory device_lengths(lengths.size() * sizeof lengths[0]);
    check(cudaMemcpy(device_lengths.data(), lengths.data(), device_lengths.bytes(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    usual.forward();
    other.forward(static_cast<const std::int32_t*>(device_lengths.data()));
    return std::to_string(differing(bytes_of(usual.y), bytes_of(other.y))) + " bytes differ";
  });

  struct Math {
    const char* name;
    cudnnMathType_t type;
  };
  for (const std::int32_t dtype : {BACKGAUGE_FLOAT32, BACKGAUGE_HALF}) {
    for (const Math math :
         {Math{"FMA", CUDNN_FMA_MATH}, Math{"TENSOR_OP", CUDNN_TENSOR_OP_MATH}, Math{"DEFAULT", CUDNN_DEFAULT_MATH}}) {
      findings.ask("8", "lstm " + std::string(dtype_word(dtype)) + " " + math.name + ": error against float64",
                   [&] { return errors_of(BACKGAUGE_LSTM, dtype, math.type); });
    }
  }

  for (const std::int32_t mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    findings.ask("9", std::string(rnn_mode_word(mode)) + ": gradients of bW and bR",
                 [&] { return unequal_biases(mode); });
  }
  findings.ask("9", "relu at exactly 0: largest gradient of a bias", [] {
    const NetworkShape shape = trial_shape(BACKGAUGE_RNN_RELU, BACKGAUGE_FLOAT32);
    Trial t(shape);
    check(cudaMemset(t.weights.data(), 0, t.weights.bytes()), "cudaMemset");
    t.run();
    const std::vector<double> dw = values_of(t.dw, BACKGAUGE_FLOAT32);
    double largest = 0;
    for (const double value : dw) largest = std::max(largest, std::fabs(value));
    return std::to_string(largest);
  });
  findings.ask("9", "hx, cx, dhy, dcy NULL, against zeros", [] {
    const NetworkShape shape = trial_shape(BACKGAUGE_LSTM, BACKGAUGE_FLOAT32);
    Trial zeros(shape), absent(shape);
    for (const DeviceMemory* memory : {&zeros.hx, &zeros.cx, &zeros.dhy, &zeros.dcy}) {
      check(cudaMemset(memory->data(), 0, memory->bytes()), "cudaMemset");
    }
    absent.has_states = false;
    for (Trial* trial : {&zeros, &absent}) trial->run();
    return difference(zeros, absent) + " (bytes that differ)";
  });
}

}  // namespace backgauge::cudnn
