// SPDX-License-Identifier: Apache-2.0
// Other inputs of the same workload whose expected outputs are known without running the oracle again. Gradients are
// linear in the upstream gradients, tanh is odd, and gates depend on units only through products. If the signs of
// inputs, units and all upstream gradients change together with those of the weights between them, only the signs of
// the values in the net change. Rounding to nearest is symmetric, so expected outputs change only their signs, and
// allowed errors do not change.
//
//   x, W      an input's column of x, and its row of W
//   h, c, R   a unit's state, its row of R, and its column in the products of the gate that takes their tanh
//   upstream  all upstream gradients, and all gradients
//
// Units of rnn_relu keep their signs (relu is not odd), and so do the inputs of a layer that adds them to its gates
// (skip_input), with the units of that layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "perf/workload/ops/sign_pattern.h"
#include "reference/contract/call.h"

namespace backgauge {

class Signs {
 public:
  // Signs drawn from the seed, for the shapes of `problem`, the problem of a gradient op. Those of the upstream
  // gradients depend on whether the seed is odd: where units keep their signs, every gradient except 0 changes from one
  // seed to the next.
  Signs(const Problem& problem, std::uint64_t seed);

  // Flips the signs of those elements of the input or output `name`. Applying it twice has no effect. Throws
  // std::logic_error if the op has no such tensor.
  void apply(std::string_view name, std::span<double> values) const;

  // The same for stored elements.
  void apply(std::string_view name, backgauge_dtype dtype, std::span<std::byte> bytes) const;

 private:
  struct Pattern {
    std::string_view name;
    std::uint8_t all;  // 1: the signs of all elements change, besides those that `signs` changes
    SignPattern signs;
  };

  template <class Flip>
  void for_each_row(std::string_view name, std::size_t count, const Flip& flip) const;

  std::vector<Pattern> patterns_;  // of every input and output
};

}  // namespace backgauge
