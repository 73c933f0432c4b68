// SPDX-License-Identifier: Apache-2.0
// Finds dropout masks with networks of rnn_relu whose weights are 0, 1 and -1.
//
// The last gap: the layer before it is 1 everywhere (bias 1, no weights), the layer after it copies what it sees, and
// the output is mask / (1 - dropout).
//
// Any other gap is seen in the last state of the layer after it alone, a sum over all steps s = 0, 1, ... of the
// direction: the layer before the gap counts down from its first state a, max(0, a - 1 - s), and the layer after it
// adds up what arrives. With S(a) = sum_s mask[s] max(0, a - 1 - s), S(s + 2) - 2 S(s + 1) + S(s) is mask[s].
#include <algorithm>
#include <cmath>
#include <vector>

#include "impl/cudnn/ops.h"
#include "reference/contract/storage.h"

namespace backgauge::cudnn {
namespace {

class Teller {
 public:
  Teller(const NetworkShape& shape, std::uint64_t seed, cudaStream_t stream)
      : shape_(shape),
        sizes_(checked_sizes(shape)),
        stream_(stream),
        params_(shape.params()),
        first_states(elements_of_states()),
        output(static_cast<std::size_t>(shape.T * shape.B * shape.directions() * shape.H)),
        last_states(elements_of_states()),
        values_(static_cast<std::size_t>(params_.size())),
        seed_(seed),
        x_(static_cast<std::size_t>(shape.T * shape.B * shape.I) * shape.element_bytes()),
        y_(output.size() * shape.element_bytes()),
        hx_(first_states.size() * shape.element_bytes()),
        hy_(last_states.size() * shape.element_bytes()),
        weights_(sizes_.weights),
        workspace_(sizes_.workspace),
        reserve_(sizes_.reserve),
        states_(sizes_.states) {
    check(cudaMemsetAsync(x_.data(), 0, x_.bytes(), stream_), "cudaMemsetAsync");
  }

  // Every unit of the layer adds `value` in each step.
  void add_bias(std::int64_t layer, double value) {
    for (std::int64_t d = 0; d < params_.directions; ++d) {
      std::fill_n(values_.begin() + params_.bW(layer, d, 0), shape_.H, value);
    }
  }

  // Every unit keeps its state.
  void keep_states(std::int64_t layer) {
    for (std::int64_t d = 0; d < params_.directions; ++d) {
      for (std::int64_t j = 0; j < shape_.H; ++j) at(params_.R(layer, d, 0) + j * shape_.H + j) = 1;
    }
  }

  // Every unit sees the one of its own place and direction in the layer below.
  void copy_input(std::int64_t layer) {
    for (std::int64_t d = 0; d < params_.directions; ++d) {
      for (std::int64_t j = 0; j < shape_.H; ++j) {
        at(params_.W(layer, d, 0) + j * params_.layer_input(layer) + d * shape_.H + j) = 1;
      }
    }
  }

  // Fills output and last_states.
  void run() {
    const auto dtype = static_cast<backgauge_dtype>(shape_.dtype);
    check(cudnnSetStream(thread_handle(), stream_), "cudnnSetStream");
    upload(dtype, values_, weights_);
    upload(dtype, first_states, hx_);
    const Network n(shape_, thread_handle(), {states_.data(), seed_, true});
    check(cudnnRNNForward(n.handle(), n.rnn(), CUDNN_FWD_MODE_TRAINING, nullptr, n.x(), x_.data(), n.y(), y_.data(),
                          n.h(), hx_.data(), hy_.data(), n.h(), nullptr, nullptr, weights_.bytes(), weights_.data(),
                          workspace_.bytes(), workspace_.data(), reserve_.bytes(), reserve_.data()),
          "cudnnRNNForward");
    download(dtype, y_, output);
    download(dtype, hy_, last_states);
  }

 private:
  std::size_t elements_of_states() const {
    return static_cast<std::size_t>(shape_.L * shape_.directions() * shape_.B * shape_.H);
  }

  double& at(std::int64_t offset) { return values_[static_cast<std::size_t>(offset)]; }

  void upload(backgauge_dtype dtype, const std::vector<double>& from, const DeviceMemory& to) const {
    std::vector<std::byte> bytes(to.bytes());
    encode(dtype, from, bytes.data());
    check(cudaMemcpyAsync(to.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  void download(backgauge_dtype dtype, const DeviceMemory& from, std::vector<double>& to) const {
    std::vector<std::byte> bytes(from.bytes());
    check(cudaMemcpyAsync(bytes.data(), from.data(), bytes.size(), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    decode(dtype, bytes.data(), to);
  }

  const NetworkShape shape_;
  const NetworkSizes sizes_;
  const cudaStream_t stream_;
  const RnnParams params_;

 public:
  std::vector<double> first_states, output, last_states;  // [L * D, B, H], [T, B, D * H], [L * D, B, H]

 private:
  std::vector<double> values_;
  const std::uint64_t seed_;
  DeviceMemory x_, y_, hx_, hy_, weights_, workspace_, reserve_, states_;
};

// 0 or 1; any other value means that the network did not work as intended, and gives no answer.
std::uint8_t bit_of(double told, double dropout) {
  const double kept = told * (1 - dropout);
  if (std::fabs(kept) < 0.25) return 0;
  if (std::fabs(kept - 1) < 0.25) return 1;
  throw CallError(BACKGAUGE_UNSUPPORTED,
                  "dropout mask: expected 0 or 1, cuDNN's network returned " + std::to_string(kept));
}

void tell_last_gap(Teller& teller, const NetworkShape& shape, std::uint8_t* keep) {
  teller.add_bias(shape.L - 2, 1);
  teller.copy_input(shape.L - 1);
  teller.run();
  for (const double told : teller.output) *keep++ = bit_of(told, static_cast<double>(shape.dropout));
}

void tell_inner_gap(Teller& teller, const NetworkShape& shape, std::int64_t gap, std::uint8_t* keep) {
  teller.add_bias(gap, -1);
  teller.keep_states(gap);
  teller.copy_input(gap + 1);
  teller.keep_states(gap + 1);
  const std::int64_t D = shape.directions(), row = shape.B * shape.H;
  const auto rows_of = [&](std::vector<double>& states, std::int64_t layer) {
    return states.begin() + layer * D * row;
  };
  std::vector<std::vector<double>> sums;  // S(a), [D, B, H] each
  for (std::int64_t a = 0; a < shape.T + 2; ++a) {
    std::fill_n(rows_of(teller.first_states, gap), D * row, static_cast<double>(a));
    teller.run();
    const auto begin = rows_of(teller.last_states, gap + 1);
    sums.emplace_back(begin, begin + D * row);
  }
  for (std::int64_t s = 0; s < shape.T; ++s) {
    const auto sum = [&](std::int64_t a, std::int64_t k) {
      return sums[static_cast<std::size_t>(a)][static_cast<std::size_t>(k)];
    };
    for (std::int64_t d = 0; d < D; ++d) {
      const std::int64_t t = d == 0 ? s : shape.T - 1 - s;
      for (std::int64_t b = 0; b < shape.B; ++b) {
        for (std::int64_t j = 0; j < shape.H; ++j) {
          const std::int64_t k = d * row + b * shape.H + j;
          const double told = sum(s + 2, k) - 2 * sum(s + 1, k) + sum(s, k);
          keep[((t * shape.B + b) * D + d) * shape.H + j] = bit_of(told, static_cast<double>(shape.dropout));
        }
      }
    }
  }
}

}  // namespace

void reveal_mask(const backgauge_call& call, const Extents& extents, std::int32_t gap, std::uint8_t* keep) {
  if (extents.B == 0) return;
  NetworkShape shape = shape_of(call, extents);
  shape.mode = BACKGAUGE_RNN_RELU;
  shape.skip = false;
  shape.tensor_op = false;
  const bool last = gap + 2 == shape.L;
  // S grows to T^2 / 2, and half is exact to 2^11: four sums in one difference leave less than a quarter up to T = 15.
  constexpr std::int64_t kMostHalfSteps = 15;
  if (!last && shape.dtype == BACKGAUGE_HALF && shape.T > kMostHalfSteps) shape.dtype = BACKGAUGE_FLOAT32;
  Teller teller(shape, dropout_seed(call.attributes), static_cast<cudaStream_t>(call.stream));
  if (last) {
    tell_last_gap(teller, shape, keep);
  } else {
    tell_inner_gap(teller, shape, gap, keep);
  }
}

}  // namespace backgauge::cudnn
