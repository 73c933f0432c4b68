// SPDX-License-Identifier: Apache-2.0
// Time and memory of the oracle: each of its evaluations by itself, and all of them as `oracle` makes them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/arithmetic/dense_product.h"
#include "reference/oracle.h"

namespace backgauge {

struct Phase {
  std::string name;
  double elapsed = 0, cpu = 0;  // s; cpu: of all threads, in this process
  double double_flops = 0,
         float_flops = 0;  // of products of matrices; 0 of those of long double, which are not counted
  double peak_bytes = 0;   // largest resident set of the process meanwhile, inputs and earlier results included
};

// The limit of one core, per second: matrix products that stay in its caches, the best of some tries.
ProductWork measured_product_limit();

// Value, bound, variance, noise, each once, and the whole oracle for random values. problem: as `oracle` takes it.
std::vector<Phase> profile_oracle(const Problem& problem, const Declared& declared);

// How much more memory than before is resident at the peak of `work`, in bytes; nothing if the system does not report
// it (proc(5), clear_refs).
std::optional<double> growth_of_peak(const std::function<void()>& work);

// The share of the limit at which the products of a phase would run if it did nothing else: 0 .. 1.
double share_of_limit(const Phase& phase, const ProductWork& limit);

}  // namespace backgauge
