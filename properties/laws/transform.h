// SPDX-License-Identifier: Apache-2.0
// Tools of laws to make one problem from another, and to compare an output with parts of others. Which dimension is T,
// B, I or H is looked up in the table of the op.
#pragma once

#include <functional>
#include <optional>

#include "properties/case/line/case.h"
#include "reference/contract/call.h"
#include "reference/oracle.h"

namespace backgauge {

// A case without NaN and infinities.
Case with_finite_values(Case c);

// A case whose dropout masks do not depend on the implementation: everything is kept, or nothing.
Case without_random_dropout(Case c);

// The case, with float32 instead of half or bfloat16: in 16 bits a value that is stored between two calls is rounded
// more often than one that stays inside the implementation.
Case without_narrow(Case c);

// Its values as doubles, as stored.
std::vector<double> values_of(const Wanted& wanted);

// The input of that name. Throws std::out_of_range if there is none.
Tensor& input(Problem& problem, std::string_view name);

// Number of elements of an input that may influence an output; they are the leading ones.
std::int64_t elements_read(const Problem& problem, std::string_view name);

// Changes those elements of the upstream gradients that are read. change(name, index, value) returns the new value,
// which must be representable in the dtype.
using Change = std::function<double(std::string_view name, std::int64_t index, double value)>;
void change_upstream(Problem& problem, const Change& change);

// The same for the weights, peepholes included.
void change_weights(Problem& problem, const Change& change);

// The row of a tensor in the table of the op, or in that of the forward of CudnnRNNBackprop. Throws std::out_of_range
// for an unknown one.
const TensorSpec& tensor_spec(backgauge_op op, std::string_view name);

// The index of the dimension `symbol` (T, B, I, ...) of a tensor of the op, or of the forward of CudnnRNNBackprop;
// nullopt if the tensor does not have it. Throws std::out_of_range for an unknown tensor.
std::optional<std::size_t> dimension(backgauge_op op, std::string_view name, std::string_view symbol);

// The symbols of all dimensions, slowest first: "I + H", "4 * H". Empty for a scalar.
std::vector<std::string_view> dimensions(backgauge_op op, std::string_view name);

// Selects elements of a tensor, in any order.
struct Selection {
  Shape shape;
  std::vector<std::size_t> from;  // one for each element of shape
};
Selection part(const Shape& shape, std::size_t axis, std::int64_t begin, std::int64_t end);
Selection reversed(const Shape& shape, std::size_t axis);
Selection range(std::int64_t begin, std::int64_t count);  // of a flat tensor

// Indices along one dimension.
using Places = std::vector<std::int64_t>;
Places all_places(std::int64_t count);
Places shuffled_places(std::int64_t count, std::uint64_t seed);

// The elements whose index along every dimension is among those given for it, in that order.
Selection elements_at(const Shape& shape, const std::vector<Places>& places);

Tensor select(const Tensor& tensor, const Selection& selection);
Wanted select(const Wanted& wanted, const Selection& selection);

// Zeros with a bound of 0, in the shape of `wanted`.
Wanted zeros_like(Wanted wanted);

// Adds values and bounds. The shapes must be equal.
Wanted sum(Wanted a, const Wanted& b);

// Concatenates along an axis.
Wanted joined(const Wanted& a, const Wanted& b, std::size_t axis);

}  // namespace backgauge
