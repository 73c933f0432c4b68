// SPDX-License-Identifier: Apache-2.0
// How laws make one problem from another, and compare one output with parts of others: everything that depends on a
// dimension asks the table of the op which one it is.
#pragma once

#include <functional>
#include <optional>

#include "properties/case/case.h"
#include "reference/contract/call.h"
#include "reference/oracle.h"

namespace backgauge {

// A case without NaN and infinities.
Case with_finite_values(Case c);

// A case whose masks do not depend on the implementation: all is kept, or nothing.
Case without_random_dropout(Case c);

// A case in float32 where its dtype is half: there a value that is stored between two calls is rounded more often than
// one that stays in the implementation.
Case without_half(Case c);

// The tensor of that name among the inputs. Throws std::out_of_range.
Tensor& input(Problem& problem, std::string_view name);

// Elements of an input that may influence an output: the leading ones.
std::int64_t elements_read(const Problem& problem, std::string_view name);

// Changes the gradients that come from above where they are read: cs_grad and h_grad, or output_backprop and its kin.
// change(name, index, value) gives the new value, which must be one of the dtype.
using Change = std::function<double(std::string_view name, std::int64_t index, double value)>;
void change_upstream(Problem& problem, const Change& change);

// The same for what multiplies: w and the peepholes, or params.
void change_weights(Problem& problem, const Change& change);

// The row of a tensor in the table of the op, or in that of the forward of CudnnRNNBackprop. Throws std::out_of_range
// for an unknown one.
const TensorSpec& tensor_spec(backgauge_op op, std::string_view name);

// Which dimension of a tensor of the op, or of the forward of CudnnRNNBackprop, is `symbol` (T, B, I, ...); nullopt if
// none. Throws std::out_of_range for an unknown tensor.
std::optional<std::size_t> dimension(backgauge_op op, std::string_view name, std::string_view symbol);

// All of them, slowest first: "I + H", "4 * H". None for a scalar.
std::vector<std::string_view> dimensions(backgauge_op op, std::string_view name);

// Elements of a tensor in another order, or some of them.
struct Selection {
  Shape shape;
  std::vector<std::size_t> from;  // as many as shape has elements
};
Selection part(const Shape& shape, std::size_t axis, std::int64_t begin, std::int64_t end);
Selection reversed(const Shape& shape, std::size_t axis);
Selection range(std::int64_t begin, std::int64_t count);  // of a flat tensor

// Places along one dimension.
using Places = std::vector<std::int64_t>;
Places all_places(std::int64_t count);
Places shuffled_places(std::int64_t count, std::uint64_t seed);

// The elements whose place along every dimension is among those given for it, in that order.
Selection elements_at(const Shape& shape, const std::vector<Places>& places);

Tensor select(const Tensor& tensor, const Selection& selection);
Wanted select(const Wanted& wanted, const Selection& selection);

// Zeros with a bound of 0, in the shape of `wanted`.
Wanted zeros_like(Wanted wanted);

// Values are added, and so are the bounds. For equal shapes.
Wanted sum(Wanted a, const Wanted& b);

// One after the other along an axis.
Wanted joined(const Wanted& a, const Wanted& b, std::size_t axis);

}  // namespace backgauge
