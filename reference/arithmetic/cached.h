// SPDX-License-Identifier: Apache-2.0
// A value derived from a matrix, computed once. Weights need theirs at every step of a sequence.
#pragma once

#include <memory>

namespace backgauge {

// A copy of the matrix does not copy it, since the values of the copy may change. Not for several threads.
template <class T>
class Cached {
 public:
  Cached() = default;
  Cached(const Cached& /*other*/) {}
  Cached& operator=(const Cached& other) {
    if (&other != this) kept_.reset();
    return *this;
  }

  template <class Make>
  const T& get(const Make& make) const {
    if (!kept_) kept_ = std::make_shared<const T>(make());
    return *kept_;
  }

 private:
  mutable std::shared_ptr<const T> kept_;
};

}  // namespace backgauge
