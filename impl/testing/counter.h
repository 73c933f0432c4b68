// SPDX-License-Identifier: Apache-2.0
// A number that plug-ins in several processes share: in the file that BACKGAUGE_TEST_COUNTER names.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace backgauge::testing {

inline std::atomic<std::uint64_t>& counter() {
  const char* path = std::getenv("BACKGAUGE_TEST_COUNTER");
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) std::abort();
  close(file);
  return *static_cast<std::atomic<std::uint64_t>*>(memory);
}

}  // namespace backgauge::testing
