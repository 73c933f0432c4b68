// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/transform.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "properties/case/line/random.h"
#include "reference/contract/op_spec.h"

namespace backgauge {
namespace {

// Dimensions before, at and after an axis.
struct Blocks {
  std::int64_t outer = 1, length = 1, inner = 1;
};

Blocks blocks(const Shape& shape, std::size_t axis) {
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  return {product(shape.begin(), at), shape.at(axis), product(at + 1, shape.end())};
}

// The elements whose index along the axis is index(0), index(1), ... index(length - 1).
template <class Index>
Selection along(const Shape& shape, std::size_t axis, std::int64_t length, Index index) {
  const Blocks b = blocks(shape, axis);
  Selection out{shape, {}};
  out.shape[axis] = length;
  out.from.reserve(static_cast<std::size_t>(b.outer * length * b.inner));
  for (std::int64_t o = 0; o < b.outer; ++o) {
    for (std::int64_t k = 0; k < length; ++k) {
      for (std::int64_t i = 0; i < b.inner; ++i) {
        out.from.push_back(static_cast<std::size_t>((o * b.length + index(k)) * b.inner + i));
      }
    }
  }
  return out;
}

template <class Value>
std::vector<Value> picked(const std::vector<Value>& values, const Selection& selection) {
  std::vector<Value> out;
  out.reserve(selection.from.size());
  for (const std::size_t from : selection.from) out.push_back(values.at(from));
  return out;
}

void change_inputs(Problem& problem, const Change& change, bool (*is_meant)(Role)) {
  for (Tensor& tensor : problem.inputs) {
    if (!is_meant(tensor_spec(problem.op, tensor.name).role)) continue;
    const std::int64_t read = elements_read(problem, tensor.name);
    for (std::int64_t k = 0; k < read; ++k) tensor.values[k] = change(tensor.name, k, tensor.values[k]);
  }
}

}  // namespace

Case with_finite_values(Case c) {
  if (c.data == DataProfile::kNan || c.data == DataProfile::kInf) c.data = DataProfile::kStratified;
  return c;
}

Case without_random_dropout(Case c) {
  if (c.dropout < 1) c.dropout = 0;
  return c;
}

Case without_narrow(Case c) {
  if (is_narrow(c.dtype)) c.dtype = BACKGAUGE_FLOAT32;
  return c;
}

std::vector<double> values_of(const Wanted& wanted) { return {wanted.value.begin(), wanted.value.end()}; }

Tensor& input(Problem& problem, std::string_view name) {
  const auto found = std::ranges::find_if(problem.inputs, [&](const Tensor& tensor) { return tensor.name == name; });
  if (found == problem.inputs.end()) throw std::out_of_range("no input " + std::string(name));
  return *found;
}

std::int64_t elements_read(const Problem& problem, std::string_view name) {
  const TensorSpec& spec = tensor_spec(problem.op, name);
  return elements_in_rows(spec.shape(problem.extents), spec.rows(problem.extents));
}

void change_upstream(Problem& problem, const Change& change) { change_inputs(problem, change, is_upstream); }

void change_weights(Problem& problem, const Change& change) { change_inputs(problem, change, is_weight); }

const TensorSpec& tensor_spec(backgauge_op op, std::string_view name) {
  for (const backgauge_op each : {op, traits_of(op).forward.value_or(op)}) {
    const OpSpec& spec = *find_op(each);
    for (const auto* specs : {&spec.inputs, &spec.outputs}) {
      const auto found = std::ranges::find(*specs, name, &TensorSpec::name);
      if (found != specs->end()) return *found;
    }
  }
  throw std::out_of_range("no tensor " + std::string(name));
}

std::optional<std::size_t> dimension(backgauge_op op, std::string_view name, std::string_view symbol) {
  const auto all = dimensions(op, name);
  const auto found = std::ranges::find(all, symbol);
  if (found == all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

std::vector<std::string_view> dimensions(backgauge_op op, std::string_view name) {
  return tensor_spec(op, name).dimensions;
}

Selection part(const Shape& shape, std::size_t axis, std::int64_t begin, std::int64_t end) {
  return along(shape, axis, end - begin, [begin](std::int64_t k) { return begin + k; });
}

Selection reversed(const Shape& shape, std::size_t axis) {
  const std::int64_t length = shape.at(axis);
  return along(shape, axis, length, [length](std::int64_t k) { return length - 1 - k; });
}

Selection range(std::int64_t begin, std::int64_t count) {
  Selection out{{count}, std::vector<std::size_t>(static_cast<std::size_t>(count))};
  std::iota(out.from.begin(), out.from.end(), static_cast<std::size_t>(begin));
  return out;
}

Places all_places(std::int64_t count) {
  Places out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  return out;
}

Places shuffled_places(std::int64_t count, std::uint64_t seed) {
  Places out = all_places(count);
  const RandomStream stream(seed, "order");
  for (std::int64_t k = count - 1; k > 0; --k) {
    std::swap(out[static_cast<std::size_t>(k)], out[static_cast<std::size_t>(stream.choice(k, k + 1))]);
  }
  return out;
}

Selection elements_at(const Shape& shape, const std::vector<Places>& places) {
  Selection out{{}, {0}};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<std::size_t> from;
    from.reserve(out.from.size() * places.at(axis).size());
    for (const std::size_t before : out.from) {
      for (const std::int64_t place : places.at(axis)) {
        from.push_back(before * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(place));
      }
    }
    out.from = std::move(from);
    out.shape.push_back(static_cast<std::int64_t>(places.at(axis).size()));
  }
  return out;
}

Tensor select(const Tensor& tensor, const Selection& selection) {
  return {tensor.name, selection.shape, picked(tensor.values, selection)};
}

Wanted select(const Wanted& wanted, const Selection& selection) {
  return {wanted.name, selection.shape, picked(wanted.value, selection), picked(wanted.allowed, selection)};
}

Wanted zeros_like(Wanted wanted) {
  wanted.value.assign(wanted.value.size(), 0);
  wanted.allowed.assign(wanted.allowed.size(), 0);
  return wanted;
}

Wanted sum(Wanted a, const Wanted& b) {
  if (a.shape != b.shape) throw std::logic_error("sum of " + to_string(a.shape) + " and " + to_string(b.shape));
  for (std::size_t k = 0; k < a.value.size(); ++k) {
    a.value[k] += b.value[k];
    a.allowed[k] += b.allowed[k];
  }
  return a;
}

Wanted joined(const Wanted& a, const Wanted& b, std::size_t axis) {
  Wanted out{a.name, a.shape, {}, {}};
  out.shape.at(axis) += b.shape.at(axis);
  const Blocks left = blocks(a.shape, axis), right = blocks(b.shape, axis);
  const auto append = [](const auto& from, std::int64_t begin, std::int64_t count, auto& to) {
    to.insert(to.end(), from.begin() + begin, from.begin() + begin + count);
  };
  for (std::int64_t o = 0; o < left.outer; ++o) {
    for (const auto& [side, extent] : {std::pair{&a, left}, {&b, right}}) {
      const std::int64_t count = extent.length * extent.inner;
      append(side->value, o * count, count, out.value);
      append(side->allowed, o * count, count, out.allowed);
    }
  }
  return out;
}

}  // namespace backgauge
