// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation of scalar expressions, recorded on a tape while they are evaluated.
//
// Every value has a magnitude: what the value would be if no terms of any sum cancelled, to first order in the
// difference. If k operations of relative error u led to a value or derivative, its error is at most a small multiple
// of k * u * magnitude. The magnitude is never below |value|, and is 0 only for exact zeros.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace backgauge {

template <class Scalar>
class Tape;

// A value and its magnitude.
template <class Scalar>
struct Measured {
  Scalar value = 0;
  Scalar magnitude = 0;
};

// One value on a tape, which must outlive it. Operands of one operation belong to one tape.
template <class Scalar>
struct Variable {
  Tape<Scalar>* tape = nullptr;
  std::int32_t index = 0;

  Measured<Scalar> measured() const { return tape->nodes()[index].result; }
  Scalar value() const { return measured().value; }
  Scalar magnitude() const { return measured().magnitude; }
};

template <class Scalar>
class Tape {
 public:
  // The derivative of a node by one of its operands.
  struct Edge {
    std::int32_t operand = -1;  // -1: no operand
    Measured<Scalar> partial;
  };
  struct Node {
    Measured<Scalar> result;
    std::array<Edge, 2> edges;
  };

  // What an expression depends on: an input, or a constant.
  Variable<Scalar> leaf(Scalar value);

  Variable<Scalar> record(Measured<Scalar> result, Edge first, Edge second = {});
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
};

// The derivatives of one variable by every variable recorded before it.
template <class Scalar>
class Derivatives {
 public:
  explicit Derivatives(Variable<Scalar> of);
  Scalar value(Variable<Scalar> by) const { return adjoints_[by.index].value; }
  Scalar magnitude(Variable<Scalar> by) const { return adjoints_[by.index].magnitude; }

 private:
  std::vector<Measured<Scalar>> adjoints_;
};

template <class Scalar>
Variable<Scalar> operator+(Variable<Scalar> a, Variable<Scalar> b);
template <class Scalar>
Variable<Scalar> operator-(Variable<Scalar> a, Variable<Scalar> b);
template <class Scalar>
Variable<Scalar> operator*(Variable<Scalar> a, Variable<Scalar> b);
template <class Scalar>
Variable<Scalar> operator/(Variable<Scalar> a, Variable<Scalar> b);

template <class Scalar>
Variable<Scalar> exp(Variable<Scalar> x);
template <class Scalar>
Variable<Scalar> tanh(Variable<Scalar> x);
template <class Scalar>
Variable<Scalar> sigmoid(Variable<Scalar> x);

// max(0, x), with derivative 0 at 0.
template <class Scalar>
Variable<Scalar> relu(Variable<Scalar> x);

// The given value in place of x, with derivative 1: a clip that gradients pass straight through.
template <class Scalar>
Variable<Scalar> straight_through(Variable<Scalar> x, Scalar value);

// tanh and sigmoid of x whose result was saved by someone else: the slope follows from the saved result, not from x.
template <class Scalar>
Variable<Scalar> saved_tanh(Variable<Scalar> x, Scalar value);
template <class Scalar>
Variable<Scalar> saved_sigmoid(Variable<Scalar> x, Scalar value);

}  // namespace backgauge
