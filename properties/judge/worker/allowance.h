// SPDX-License-Identifier: Apache-2.0
// Limits the memory that an implementation allocates in its process. Only memory that is allocated while one of its
// functions runs counts, as long as it is kept: not the tensors of a case, which the judge has placed there, and not
// addresses that are reserved but never written.
#pragma once

#include <cstdint>
#include <mutex>

namespace backgauge {

class Allowance {
 public:
  // `bytes`: of private writable memory, as RLIMIT_DATA counts it; 0: no limit.
  explicit Allowance(std::uint64_t bytes) : bytes_(bytes) {}

  void enter();  // from now on, allocations beyond the limit fail
  void leave();  // the last of several threads that have entered removes the limit

 private:
  const std::uint64_t bytes_;
  std::mutex mutex_;
  int inside_ = 0;
  std::int64_t kept_ = 0, before_ = 0;
};

}  // namespace backgauge
