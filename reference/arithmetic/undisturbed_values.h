// SPDX-License-Identifier: Apache-2.0
// Undisturbed values that all evaluations of one problem with random roundings have in common. Each is made once, and
// floats each time that no evaluation has them.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "reference/arithmetic/scaled_plane.h"

namespace backgauge {

class UndisturbedValues {
 public:
  // Value number k, in the order in which an evaluation asks for them; make() unless there is one. For several threads:
  // two that make the same value at a time make the same bits, and the first is kept.
  template <class Make>
  SharedPlane get(std::size_t k, const Make& make) {
    return get_of(values_, k, make);
  }
  // The same for values as floats, numbered on their own.
  using SharedFloats = std::shared_ptr<const ScaledPlane>;
  template <class Make>
  SharedFloats floats(std::size_t k, const Make& make) {
    return get_of(floats_, k, make);
  }

 private:
  static SharedPlane known(const SharedPlane& kept) { return kept; }
  static SharedFloats known(const std::weak_ptr<const ScaledPlane>& kept) { return kept.lock(); }

  template <class Kept, class Make>
  auto get_of(std::vector<Kept>& all, std::size_t k, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (all.size() <= k) all.resize(k + 1);
      if (auto kept = known(all[k])) return kept;
    }
    auto made = make();
    const std::lock_guard lock(mutex_);
    if (auto kept = known(all[k])) return kept;
    all[k] = made;
    return made;
  }

  std::mutex mutex_;
  std::vector<SharedPlane> values_;
  std::vector<std::weak_ptr<const ScaledPlane>> floats_;
};

}  // namespace backgauge
