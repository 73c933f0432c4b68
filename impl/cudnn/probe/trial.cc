// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/probe/trial.h"

#include <algorithm>
#include <random>

#include "impl/cudnn/plans.h"
#include "reference/contract/storage.h"

namespace backgauge::cudnn {
namespace {

// Small enough that nothing saturates.
void fill(const DeviceMemory& memory, std::int32_t dtype, std::int32_t rounded_to, std::uint64_t seed, double scale) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  std::vector<double> values(memory.bytes() / backgauge_dtype_bytes(dtype));
  std::ranges::generate(values, [&] { return round_to(static_cast<backgauge_dtype>(rounded_to), uniform(random)); });
  store(memory, dtype, values);
}

std::size_t bytes_in(const NetworkShape& shape, std::int64_t elements) {
  return static_cast<std::size_t>(elements) * shape.element_bytes();
}
std::size_t state_bytes(const NetworkShape& s) { return bytes_in(s, s.L * s.directions() * s.B * s.H); }
std::size_t output_bytes(const NetworkShape& s) { return bytes_in(s, s.T * s.B * s.directions() * s.H); }
std::size_t input_bytes(const NetworkShape& s) { return bytes_in(s, s.T * s.B * s.I); }

}  // namespace

Bytes bytes_of(const DeviceMemory& memory) {
  Bytes out(memory.bytes());
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaMemcpy(out.data(), memory.data(), out.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return out;
}

std::vector<double> values_of(const DeviceMemory& memory, std::int32_t dtype) {
  std::vector<double> out(memory.bytes() / backgauge_dtype_bytes(dtype));
  decode(static_cast<backgauge_dtype>(dtype), bytes_of(memory).data(), out);
  return out;
}

void store(const DeviceMemory& memory, std::int32_t dtype, const std::vector<double>& values) {
  Bytes bytes(memory.bytes());
  encode(static_cast<backgauge_dtype>(dtype), values, bytes.data());
  check(cudaMemcpy(memory.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

std::size_t differing(const Bytes& a, const Bytes& b) {
  if (a.size() != b.size()) return std::max(a.size(), b.size());
  std::size_t count = 0;
  for (std::size_t k = 0; k < a.size(); ++k) count += a[k] != b[k] ? 1 : 0;
  return count;
}

NetworkShape trial_shape(std::int32_t mode, std::int32_t dtype) {
  return {.mode = mode,
          .dtype = dtype,
          .direction = BACKGAUGE_UNIDIRECTIONAL,
          .skip = false,
          .algorithm = CUDNN_RNN_ALGO_STANDARD,
          .math = math_of(dtype, CUDNN_FMA_MATH),
          .dropout = 0,
          .T = 6,
          .B = 4,
          .I = 24,
          .H = 32,
          .L = 2};
}

Trial::Trial(const NetworkShape& given, std::int32_t rounded_to)
    : shape(given),
      sizes(checked_sizes(given)),
      x(input_bytes(given)),
      hx(state_bytes(given)),
      cx(state_bytes(given)),
      weights(sizes.weights),
      y(output_bytes(given)),
      hy(state_bytes(given)),
      cy(state_bytes(given)),
      dy(output_bytes(given)),
      dhy(state_bytes(given)),
      dcy(state_bytes(given)),
      dx(input_bytes(given)),
      dhx(state_bytes(given)),
      dcx(state_bytes(given)),
      dw(sizes.weights),
      workspace(sizes.workspace),
      reserve(sizes.reserve),
      states(sizes.states) {
  const std::int32_t values = rounded_to == 0 ? shape.dtype : rounded_to;
  std::uint64_t seed = 1;
  for (const DeviceMemory* memory : {&x, &hx, &cx, &dy, &dhy, &dcy}) fill(*memory, shape.dtype, values, seed++, 1);
  fill(weights, shape.dtype, values, seed, 0.2);
  check(cudaMemset(reserve.data(), 0, reserve.bytes()), "cudaMemset");
}

void Trial::forward(const std::int32_t* device_lengths, bool draw_anew) {
  const Lease lease(nullptr);
  Network n(shape, lease->handle(), states.data(), variant);
  constexpr std::uint64_t kSeed = 42;
  if (draw_anew) n.draw_masks_anew(kSeed);
  check(
      cudnnRNNForward(n.handle(), n.rnn(), CUDNN_FWD_MODE_TRAINING, device_lengths, n.x(), x.data(), n.y(), y.data(),
                      n.h(), state(hx), hy.data(), n.h(), cell(cx), shape.mode == BACKGAUGE_LSTM ? cy.data() : nullptr,
                      sizes.weights, weights.data(), sizes.workspace, workspace.data(), sizes.reserve, reserve.data()),
      "cudnnRNNForward");
}

void Trial::backward_data() {
  const Lease lease(nullptr);
  const Network n(shape, lease->handle(), states.data(), variant);
  check(cudnnRNNBackwardData_v8(n.handle(), n.rnn(), nullptr, n.y(), y.data(), dy.data(), n.x(), dx.data(), n.h(),
                                state(hx), state(dhy), dhx.data(), n.h(), cell(cx), cell(dcy),
                                shape.mode == BACKGAUGE_LSTM ? dcx.data() : nullptr, sizes.weights, weights.data(),
                                sizes.workspace, workspace.data(), sizes.reserve, reserve.data()),
        "cudnnRNNBackwardData_v8");
}

void Trial::backward_weights(cudnnWgradMode_t mode, bool clear) {
  const Lease lease(nullptr);
  const Network n(shape, lease->handle(), states.data(), variant);
  if (clear) check(cudaMemset(dw.data(), 0, dw.bytes()), "cudaMemset");
  check(cudnnRNNBackwardWeights_v8(n.handle(), n.rnn(), mode, nullptr, n.x(), x.data(), n.h(), state(hx), n.y(),
                                   y.data(), sizes.weights, dw.data(), sizes.workspace, workspace.data(), sizes.reserve,
                                   reserve.data()),
        "cudnnRNNBackwardWeights_v8");
}

}  // namespace backgauge::cudnn
