// SPDX-License-Identifier: Apache-2.0
// What an implementation may allocate in its process. Only what it asks for while one of its functions runs counts, and
// what it has kept of that: not the tensors of a case, which the judge has placed there, and not addresses that are
// reserved and never written.
#pragma once

#include <cstdint>
#include <mutex>

namespace backgauge {

class Allowance {
 public:
  // `bytes`: 0: without limit. Of private memory that can be written, as RLIMIT_DATA counts it.
  explicit Allowance(std::uint64_t bytes) : bytes_(bytes) {}

  void enter();  // from here on allocations beyond the limit fail
  void leave();  // the last of several threads that have entered lifts the limit

 private:
  const std::uint64_t bytes_;
  std::mutex mutex_;
  int inside_ = 0;
  std::int64_t kept_ = 0, before_ = 0;
};

}  // namespace backgauge
