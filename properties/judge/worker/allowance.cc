// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/allowance.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace backgauge {
namespace {

// Private writable memory including the stack: the sixth number of statm, in pages.
std::int64_t private_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  constexpr int kField = 6;
  for (int field = 0; field < kField; ++field) file >> pages;
  return file ? pages * sysconf(_SC_PAGESIZE) : 0;
}

void limit_data(rlim_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace

void Allowance::enter() {
  if (bytes_ == 0) return;
  const std::lock_guard lock(mutex_);
  if (inside_++ > 0) return;
  before_ = private_bytes();
  if (before_ == 0) return;  // the system does not report it
  const auto room = std::max<std::int64_t>(static_cast<std::int64_t>(bytes_) - kept_, 0);
  limit_data(static_cast<rlim_t>(before_ + room));
}

void Allowance::leave() {
  if (bytes_ == 0) return;
  const std::lock_guard lock(mutex_);
  if (--inside_ > 0 || before_ == 0) return;
  limit_data(RLIM_INFINITY);
  // Freed memory may have belonged to the judge, so it does not raise the limit.
  kept_ = std::max<std::int64_t>(kept_ + private_bytes() - before_, 0);
}

}  // namespace backgauge
