// SPDX-License-Identifier: Apache-2.0
// Law: If the input, the states and the upstream gradients read the same backwards in time with the directions
// exchanged, and both directions have the same weights, then so do all results.
// Kind: within the bounds of both sides.
// Catches: a direction that is not reversed in time, or is reversed twice; directions exchanged in states, params or
// outputs; work done for the first direction only.
#include <algorithm>

#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/subnet.h"

namespace backgauge {
namespace palindromes_read_the_same_backwards_law {
namespace {

Case about(Case c) {
  c = without_random_dropout(with_finite_values(c));
  c.direction = BACKGAUGE_BIDIRECTIONAL;
  return c;
}

// The position of the element that each element of a tensor must equal.
Selection mirrored(const Problem& problem, std::string_view name, const Shape& shape) {
  const Extents& e = problem.extents;
  if (name == "input" || name == "input_backprop") return reversed(shape, 0);
  Places exchanged_units;
  for (std::int64_t k = 0; k < 2 * e.H; ++k) exchanged_units.push_back((k + e.H) % (2 * e.H));
  if (name == "output" || name == "output_backprop") {
    Places back_in_time = all_places(e.T);
    std::ranges::reverse(back_in_time);
    return elements_at(shape, {back_in_time, all_places(e.B), exchanged_units});
  }
  if (name != "params" && name != "params_backprop") {  // states
    Places exchanged = all_places(2 * e.L);
    for (std::int64_t& pseudo_layer : exchanged) pseudo_layer ^= 1;
    return elements_at(shape, {exchanged, all_places(e.B), all_places(e.H)});
  }
  const RnnParams layout = layout_of(problem);
  Selection out = range(0, layout.size());
  for (std::int64_t layer = 0; layer < e.L; ++layer) {
    const auto to = [&](std::int64_t mine, std::int64_t other) {
      out.from[static_cast<std::size_t>(mine)] = static_cast<std::size_t>(other);
    };
    const std::int64_t width = layout.matrix_input(layer), H = e.H;
    for (std::int64_t direction : {0, 1}) {
      const std::int64_t other = 1 - direction;
      for (std::int64_t row = 0; row < layout.gates * H; ++row) {
        for (std::int64_t k = 0; k < width; ++k) {
          // The input of a later layer has its directions exchanged as well.
          const std::int64_t column = layer == 0 ? k : exchanged_units[static_cast<std::size_t>(k)];
          to(layout.W(layer, direction, 0) + row * width + k, layout.W(layer, other, 0) + row * width + column);
        }
        for (std::int64_t k = 0; k < H; ++k) {
          to(layout.R(layer, direction, 0) + row * H + k, layout.R(layer, other, 0) + row * H + k);
        }
        to(layout.bW(layer, direction, 0) + row, layout.bW(layer, other, 0) + row);
        to(layout.bR(layer, direction, 0) + row, layout.bR(layer, other, 0) + row);
      }
    }
  }
  return out;
}

// Sets both elements of a pair to the first of them.
void make_palindrome(const Problem& problem, Tensor& tensor) {
  const Selection other = mirrored(problem, tensor.name, tensor.shape);
  for (std::size_t k = 0; k < tensor.values.size(); ++k) {
    if (other.from[k] < k) tensor.values[k] = tensor.values[other.from[k]];
  }
}

Finding check(const backgauge_implementation& implementation, const Case& c) {
  auto [problem, facts, checksum, error] = filled(c);
  for (Tensor& tensor : problem.inputs) make_palindrome(problem, tensor);
  Agreement agreement(implementation, c);
  for (const Wanted& output : bounded_answer(implementation, problem, facts)) {
    agreement.expect(output, select(output, mirrored(problem, output.name, output.shape)));
  }
  return agreement.finding();
}

}  // namespace
}  // namespace palindromes_read_the_same_backwards_law

Law palindromes_read_the_same_backwards() {
  using namespace palindromes_read_the_same_backwards_law;
  return {"M26",
          "PalindromesReadTheSameBackwards",
          "a palindrome in time gives palindromes if both directions have the same weights",
          ops_with_layers,
          Sizes::kSmall,
          about,
          check};
}

}  // namespace backgauge
