// SPDX-License-Identifier: Apache-2.0
// The operations: each records its value, its partial derivatives, and the magnitudes of both.
#include "reference/testing/witness/tape.h"

#include <cmath>
#include <limits>

namespace backgauge {
namespace {

template <class Scalar>
Measured<Scalar> exactly(Scalar value) {
  return {value, std::abs(value)};
}

template <class Scalar>
Measured<Scalar> operator+(Measured<Scalar> a, Measured<Scalar> b) {
  return {a.value + b.value, a.magnitude + b.magnitude};
}

template <class Scalar>
Measured<Scalar> operator-(Measured<Scalar> a, Measured<Scalar> b) {
  return {a.value - b.value, a.magnitude + b.magnitude};
}

// The product of what cancelled on both sides is of second order: errors of u times each make u * u. Counted as a
// whole, magnitudes would be squared from step to step.
template <class Scalar>
Measured<Scalar> operator*(Measured<Scalar> a, Measured<Scalar> b) {
  const Scalar value = a.value * b.value;
  const Scalar cancelled_a = a.magnitude - std::abs(a.value), cancelled_b = b.magnitude - std::abs(b.value);
  const Scalar both = std::numeric_limits<Scalar>::epsilon() * cancelled_a * cancelled_b;
  return {value, std::abs(value) + std::abs(a.value) * cancelled_b + cancelled_a * std::abs(b.value) + both};
}

// A function's value is off by its own rounding, and by slope times the error of x.
template <class Scalar>
Measured<Scalar> function(Scalar value, Scalar slope, Variable<Scalar> x) {
  return {value, std::abs(value) + std::abs(slope) * x.magnitude()};
}

template <class Scalar>
Measured<Scalar> inverse(Measured<Scalar> x) {
  const Scalar value = 1 / x.value;
  return {value, x.magnitude * value * value};
}

// Near saturation the two terms of a slope cancel.
template <class Scalar>
Measured<Scalar> tanh_slope(Measured<Scalar> t) {
  return exactly(Scalar(1)) - t * t;
}

template <class Scalar>
Measured<Scalar> sigmoid_slope(Measured<Scalar> s) {
  return s - s * s;
}

template <class Scalar>
Variable<Scalar> record_tanh(Variable<Scalar> x, Measured<Scalar> t) {
  return x.tape->record(t, {x.index, tanh_slope(t)});
}

template <class Scalar>
Variable<Scalar> record_sigmoid(Variable<Scalar> x, Measured<Scalar> s) {
  return x.tape->record(s, {x.index, sigmoid_slope(s)});
}

}  // namespace

template <class Scalar>
Variable<Scalar> Tape<Scalar>::leaf(Scalar value) {
  return record(exactly(value), {});
}

template <class Scalar>
Variable<Scalar> Tape<Scalar>::record(Measured<Scalar> result, Edge first, Edge second) {
  nodes_.push_back({result, {first, second}});
  return {this, static_cast<std::int32_t>(nodes_.size() - 1)};
}

template <class Scalar>
Derivatives<Scalar>::Derivatives(Variable<Scalar> of) : adjoints_(of.tape->nodes().size()) {
  adjoints_[of.index] = exactly(Scalar(1));
  for (std::int32_t index = of.index; index >= 0; --index) {
    for (const auto& edge : of.tape->nodes()[index].edges) {
      if (edge.operand < 0) continue;
      adjoints_[edge.operand] = adjoints_[edge.operand] + adjoints_[index] * edge.partial;
    }
  }
}

template <class Scalar>
Variable<Scalar> operator+(Variable<Scalar> a, Variable<Scalar> b) {
  const auto one = exactly(Scalar(1));
  return a.tape->record(a.measured() + b.measured(), {a.index, one}, {b.index, one});
}

template <class Scalar>
Variable<Scalar> operator-(Variable<Scalar> a, Variable<Scalar> b) {
  return a.tape->record(a.measured() - b.measured(), {a.index, exactly(Scalar(1))}, {b.index, exactly(Scalar(-1))});
}

template <class Scalar>
Variable<Scalar> operator*(Variable<Scalar> a, Variable<Scalar> b) {
  return a.tape->record(a.measured() * b.measured(), {a.index, b.measured()}, {b.index, a.measured()});
}

template <class Scalar>
Variable<Scalar> operator/(Variable<Scalar> a, Variable<Scalar> b) {
  const auto by_a = inverse(b.measured());
  const auto quotient = a.measured() * by_a;
  return a.tape->record(quotient, {a.index, by_a}, {b.index, exactly(Scalar(0)) - quotient * by_a});
}

template <class Scalar>
Variable<Scalar> exp(Variable<Scalar> x) {
  const Scalar value = std::exp(x.value());
  const auto result = function(value, value, x);
  return x.tape->record(result, {x.index, result});
}

template <class Scalar>
Variable<Scalar> tanh(Variable<Scalar> x) {
  const Scalar value = std::tanh(x.value());
  return record_tanh(x, function(value, tanh_slope(exactly(value)).value, x));
}

template <class Scalar>
Variable<Scalar> sigmoid(Variable<Scalar> x) {
  const Scalar value = 1 / (1 + std::exp(-x.value()));
  return record_sigmoid(x, function(value, sigmoid_slope(exactly(value)).value, x));
}

template <class Scalar>
Variable<Scalar> relu(Variable<Scalar> x) {
  if (!(x.value() > 0)) return x.tape->record({}, {x.index, {}});
  return x.tape->record(x.measured(), {x.index, exactly(Scalar(1))});
}

template <class Scalar>
Variable<Scalar> straight_through(Variable<Scalar> x, Scalar value) {
  return x.tape->record(exactly(value), {x.index, exactly(Scalar(1))});
}

template <class Scalar>
Variable<Scalar> saved_tanh(Variable<Scalar> x, Scalar value) {
  return record_tanh(x, exactly(value));
}

template <class Scalar>
Variable<Scalar> saved_sigmoid(Variable<Scalar> x, Scalar value) {
  return record_sigmoid(x, exactly(value));
}

#define BACKGAUGE_INSTANTIATE_TAPE(Scalar)                                 \
  template class Tape<Scalar>;                                             \
  template class Derivatives<Scalar>;                                      \
  template Variable<Scalar> operator+(Variable<Scalar>, Variable<Scalar>); \
  template Variable<Scalar> operator-(Variable<Scalar>, Variable<Scalar>); \
  template Variable<Scalar> operator*(Variable<Scalar>, Variable<Scalar>); \
  template Variable<Scalar> operator/(Variable<Scalar>, Variable<Scalar>); \
  template Variable<Scalar> exp(Variable<Scalar>);                         \
  template Variable<Scalar> tanh(Variable<Scalar>);                        \
  template Variable<Scalar> sigmoid(Variable<Scalar>);                     \
  template Variable<Scalar> relu(Variable<Scalar>);                        \
  template Variable<Scalar> straight_through(Variable<Scalar>, Scalar);    \
  template Variable<Scalar> saved_tanh(Variable<Scalar>, Scalar);          \
  template Variable<Scalar> saved_sigmoid(Variable<Scalar>, Scalar);
BACKGAUGE_INSTANTIATE_TAPE(double)
BACKGAUGE_INSTANTIATE_TAPE(long double)
#undef BACKGAUGE_INSTANTIATE_TAPE

}  // namespace backgauge
