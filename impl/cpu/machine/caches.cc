// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/machine/caches.h"

#include <cstdio>
#include <memory>

namespace backgauge::cpu {
namespace {

std::int64_t read_size(const char* path, std::int64_t unknown) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "r"), &std::fclose);
  long long size = 0;
  char unit = 0;
  if (file == nullptr || std::fscanf(file.get(), "%lld%c", &size, &unit) != 2 || size <= 0) return unknown;
  return size << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

}  // namespace

std::int64_t second_level_cache() {
  static const std::int64_t bytes = read_size("/sys/devices/system/cpu/cpu0/cache/index2/size", std::int64_t{1} << 20);
  return bytes;
}

std::int64_t last_level_cache() {
  static const std::int64_t bytes = read_size("/sys/devices/system/cpu/cpu0/cache/index3/size", std::int64_t{32} << 20);
  return bytes;
}

}  // namespace backgauge::cpu
