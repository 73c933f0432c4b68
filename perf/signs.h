// SPDX-License-Identifier: Apache-2.0
// Other inputs of the same workload whose right answer is known without asking the oracle again. Gradients are linear
// in the upstream gradients, tanh is odd, and gates see units only through products: where the signs of inputs, of
// units and of all upstream gradients change together with those of the weights between them, every value of the net
// keeps its bits but for its sign. So does each rounding (to nearest is the same for both signs), so that what is
// right changes its sign and what is allowed stays.
//
//   x, W      an input's column of x, and its row of W
//   h, c, R   a unit's state, its row of R, and its column in the products of the gate that is tanh of them
//   upstream  all of it, and all gradients
//
// Units of rnn_relu keep their signs (relu is not odd), and so do the inputs of a layer that adds them to its gates
// (skip_input), with the units of that layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reference/contract/call.h"

namespace backgauge {

class Signs {
 public:
  // Drawn of the seed, those of the upstream gradients by whether it is odd: no gradient but 0 keeps its value from one
  // seed to the next wherever units keep their signs. Of the shapes of `problem`, which is a gradient op's.
  Signs(const Problem& problem, std::uint64_t seed);

  // Changes the elements of the input or output `name` that change their signs. Twice is not at all.
  void apply(std::string_view name, std::span<double> values) const;

  // The same where they are stored.
  void apply(std::string_view name, backgauge_dtype dtype, std::span<std::byte> bytes) const;

 private:
  using Flips = std::vector<std::uint8_t>;  // 1: changes its sign

  // Element k changes if an odd number of `all`, rows[k / columns.size() % rows.size()] and
  // columns[k % columns.size()] are 1.
  struct Pattern {
    std::string_view name;
    std::uint8_t all = 0;
    Flips rows{}, columns{};
  };

  Flips draw(std::string_view what, std::int64_t count) const;
  void add(std::string_view name, Flips rows, Flips columns, bool with_upstream = false);
  void describe_lstm(const Problem& problem);
  void describe_net(const Problem& problem);
  template <class Flip>
  void for_each_row(std::string_view name, std::size_t count, const Flip& flip) const;

  std::uint64_t seed_;
  std::uint8_t upstream_ = 0;
  std::vector<Pattern> patterns_;  // of the tensors that change
};

}  // namespace backgauge
