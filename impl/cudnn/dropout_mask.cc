// SPDX-License-Identifier: Apache-2.0
// Finds dropout masks with networks of rnn_relu whose weights are 0, 1 and -1. Each direction of a layer reads the
// layer below, both directions of it, through a mask of its own. A unit copies one element of what it reads: a network
// shows of every mask of a gap the half of one direction `from` of the layer below.
//
// The last gap: the layer before it is 1 everywhere (bias 1, no weights), the layer after it copies what it sees, and
// the output is mask / (1 - dropout).
//
// Any other gap is seen in the last state of the layer after it alone, a sum over all steps: the layer before the gap
// counts down from its first state a, max(0, a - 1 - s) at the step s = 0, 1, ... of its direction, and the layer after
// it adds up what arrives. With S(a) = sum_s mask[s] max(0, a - 1 - s), S(s + 2) - 2 S(s + 1) + S(s) is mask[s].
//
// Masks are the same in every mode, dtype and algorithm (measured on an H200 with cuDNN 9.19), so that the networks are
// those of STANDARD in float64, whose sums are exact up to any length.
#include <algorithm>
#include <cmath>
#include <vector>

#include "impl/cudnn/ops.h"
#include "impl/cudnn/passes.h"
#include "impl/cudnn/plans.h"
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
        reserve_(sizes_.reserve) {
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

  // Every unit, in both directions, sees the one of its own place in the direction `from` of the layer below.
  void copy_input(std::int64_t layer, std::int64_t from) {
    for (std::int64_t d = 0; d < params_.directions; ++d) {
      for (std::int64_t j = 0; j < shape_.H; ++j) {
        at(params_.W(layer, d, 0) + j * params_.layer_input(layer) + from * shape_.H + j) = 1;
      }
    }
  }

  // Fills output and last_states.
  void run() {
    const auto dtype = static_cast<backgauge_dtype>(shape_.dtype);
    upload(dtype, values_, weights_);
    upload(dtype, first_states, hx_);
    {
      const Lease lease(stream_);
      Network& network = lease->network(shape_);
      network.draw_masks_anew(seed_);
      enqueue_forward(network, sizes_,
                      {x_.data(), hx_.data(), nullptr, weights_.data(), workspace_.data(), reserve_.data()},
                      {y_.data(), hy_.data(), nullptr});
    }
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
  DeviceMemory x_, y_, hx_, hy_, weights_, workspace_, reserve_;
};

// 0 or 1; any other value means that the network did not work as intended, and gives no answer.
std::uint8_t bit_of(double told, double dropout) {
  const double kept = told * (1 - dropout);
  if (std::fabs(kept) < 0.25) return 0;
  if (std::fabs(kept - 1) < 0.25) return 1;
  throw CallError(BACKGAUGE_UNSUPPORTED,
                  "dropout mask: expected 0 or 1, cuDNN's network returned " + std::to_string(kept));
}

// Below, `keep` is the mask of one direction of the layer after the gap, of which the half `from` is filled in.
struct Wanted {
  std::int64_t gap, direction, from;
  std::uint8_t* keep;  // [T, B, D, H]
};

void tell_last_gap(Teller& teller, const NetworkShape& shape, const Wanted& wanted) {
  teller.add_bias(wanted.gap, 1);
  teller.copy_input(wanted.gap + 1, wanted.from);
  teller.run();
  const std::int64_t D = shape.directions();
  for (std::int64_t tb = 0; tb < shape.T * shape.B; ++tb) {
    for (std::int64_t j = 0; j < shape.H; ++j) {
      const double told = teller.output[static_cast<std::size_t>((tb * D + wanted.direction) * shape.H + j)];
      wanted.keep[(tb * D + wanted.from) * shape.H + j] = bit_of(told, static_cast<double>(shape.dropout));
    }
  }
}

void tell_inner_gap(Teller& teller, const NetworkShape& shape, const Wanted& wanted) {
  teller.add_bias(wanted.gap, -1);
  teller.keep_states(wanted.gap);
  teller.copy_input(wanted.gap + 1, wanted.from);
  teller.keep_states(wanted.gap + 1);
  const std::int64_t D = shape.directions(), row = shape.B * shape.H;
  const auto rows_of = [&](std::vector<double>& states, std::int64_t layer, std::int64_t direction) {
    return states.begin() + (layer * D + direction) * row;
  };
  std::vector<std::vector<double>> sums;  // S(a), [B, H] each
  for (std::int64_t a = 0; a < shape.T + 2; ++a) {
    std::fill_n(rows_of(teller.first_states, wanted.gap, wanted.from), row, static_cast<double>(a));
    teller.run();
    const auto begin = rows_of(teller.last_states, wanted.gap + 1, wanted.direction);
    sums.emplace_back(begin, begin + row);
  }
  for (std::int64_t s = 0; s < shape.T; ++s) {
    const auto sum = [&](std::int64_t a, std::int64_t k) {
      return sums[static_cast<std::size_t>(a)][static_cast<std::size_t>(k)];
    };
    const std::int64_t t = wanted.from == 0 ? s : shape.T - 1 - s;
    for (std::int64_t b = 0; b < shape.B; ++b) {
      for (std::int64_t j = 0; j < shape.H; ++j) {
        const std::int64_t k = b * shape.H + j;
        const double told = sum(s + 2, k) - 2 * sum(s + 1, k) + sum(s, k);
        wanted.keep[((t * shape.B + b) * D + wanted.from) * shape.H + j] =
            bit_of(told, static_cast<double>(shape.dropout));
      }
    }
  }
}

}  // namespace

void reveal_mask(const backgauge_call& call, const Extents& extents, std::int32_t mask, std::uint8_t* keep) {
  if (extents.B == 0) return;
  NetworkShape shape = shape_of(call, extents);
  shape.mode = BACKGAUGE_RNN_RELU;
  shape.dtype = BACKGAUGE_FLOAT64;
  shape.math = math_of(shape.dtype, shape.math);
  shape.skip = false;
  const std::int64_t D = shape.directions();
  for (std::int64_t from = 0; from < D; ++from) {
    Teller teller(shape, dropout_seed(call.attributes), static_cast<cudaStream_t>(call.stream));
    const Wanted wanted{mask / D, mask % D, from, keep};
    if (wanted.gap + 2 == shape.L) {
      tell_last_gap(teller, shape, wanted);
    } else {
      tell_inner_gap(teller, shape, wanted);
    }
  }
}

}  // namespace backgauge::cudnn
