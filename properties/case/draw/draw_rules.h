// SPDX-License-Identifier: Apache-2.0
// The rules by which a data profile and a seed draw all tensors of a case: scales and choices, and the elementary fills
// that the generators of all ops share.
#pragma once

#include <cstdint>
#include <span>

#include "properties/case/draw/crew.h"
#include "properties/case/line/case.h"
#include "reference/contract/call.h"

namespace backgauge {

// The values of elements that must never be read. kPlausible: those that the generator drew.
enum class Poison { kNan, kInfinity, kHuge, kPlausible };

struct DrawRules {
  double gain;            // of weights: w ~ N(0, 1) * gain / sqrt(fan-in)
  double bias;            // of biases and peepholes: N(0, 1) * bias
  bool forget_bias;       // biases of the forget gate are around 1
  bool consistent;        // saved tensors come from a forward pass
  bool exact_gates;       // kSaturated: saved gates are exactly 0 or 1, next to 1, or tiny
  double upstream;        // of upstream gradients: N(0, 1) * upstream
  bool bounded_upstream;  // upstream gradients are below `upstream`, so that the largest do not overflow
  double density;         // the share of weights that are not 0
  Poison poison;
};
DrawRules draw_rules(const Case& c);

// Scale of gate block g, each 1.5 times the previous one, so that a wrong order cannot average out.
inline constexpr double kGateScale[4] = {1, 1.5, 2.25, 3.4};

// Calls change(index, value) for every element.
template <class Change>
void each_value(const Crew& crew, Tensor& tensor, const Change& change) {
  crew.over(tensor.values.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) change(k, tensor.values[k]);
  });
}

// Each of the following, and of what draws with them, throws Stopped where its crew is told to stop.

// Fill all elements of a tensor from its own random stream.
void fill_normal(const Crew& crew, const Case& c, Tensor& tensor, double scale);
// z / (1 + |z|) * scale, z = 2 N(0, 1)
void fill_bounded(const Crew& crew, const Case& c, Tensor& tensor, double scale);
// Either sign, magnitude 10 to 1e4 (half: to 80).
void fill_large_states(const Crew& crew, const Case& c, Tensor& tensor);

// Sets all but a share `density` of some weights to 0. `first`: the index of the first of them in `tensor`.
void thin_out(const Crew& crew, const Case& c, double density, Tensor& tensor, std::int64_t first, std::int64_t count);

// Fills an upstream gradient [..., B, width]. In kScales, each of the B rows has its own scale. In kSparse, one of a
// sequence [T, B, width] is 0 except at a few steps and rows, and one that enters at the last step is 0 unless that is
// one of the few.
void fill_upstream(const Crew& crew, const Case& c, const DrawRules& rules, Tensor& tensor);

// Rounds values to the dtype.
void round_all(backgauge_dtype dtype, std::span<double> values);

// Applies what a profile does to every tensor (kConstant, kPlain, kZeros), and rounds to the dtype, once.
void finish(const Crew& crew, const Case& c, Tensor& tensor);

}  // namespace backgauge
