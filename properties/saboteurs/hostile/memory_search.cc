// SPDX-License-Identifier: Apache-2.0
// Imitates a patient cheat: computes the first elements of an output, and searches the memory for an array that begins
// like them.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "properties/saboteurs/hostile/misbehaviour.h"

namespace backgauge::saboteurs {
namespace {

constexpr std::int64_t kKnown = 3;  // elements needed to recognise an array

struct Range {
  std::uintptr_t begin, end;
};

std::vector<Range> writable_memory() {
  std::vector<Range> ranges;
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return ranges;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long begin = 0, end = 0;
    char access[5] = "";
    if (std::sscanf(line, "%llx-%llx %4s", &begin, &end, access) == 3 && access[0] == 'r' && access[1] == 'w') {
      ranges.push_back({static_cast<std::uintptr_t>(begin), static_cast<std::uintptr_t>(end)});
    }
  }
  std::fclose(maps);
  return ranges;
}

// Memory that is unmapped meanwhile gives no bytes instead of a fault.
std::vector<unsigned char> copy_of(Range range) {
  constexpr std::size_t kMost = std::size_t{1} << 24;
  std::vector<unsigned char> bytes(std::min<std::size_t>(range.end - range.begin, kMost));
  iovec local{bytes.data(), bytes.size()}, remote{reinterpret_cast<void*>(range.begin), bytes.size()};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

template <class Real>
bool find_in(const std::vector<unsigned char>& bytes, const std::vector<double>& known, std::vector<double>& values) {
  const std::size_t size = values.size() * sizeof(Real);
  for (std::size_t at = 0; at + size <= bytes.size(); at += alignof(double)) {
    const auto value = [&](std::size_t k) {
      Real real;
      std::memcpy(&real, bytes.data() + at + k * sizeof(Real), sizeof real);
      return static_cast<double>(real);
    };
    const auto like = [&](std::size_t k) { return std::fabs(value(k) - known[k]) <= 1e-3 * std::fabs(known[k]); };
    if (!like(0) || !like(1) || !like(2)) continue;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = value(k);
    return true;
  }
  return false;
}

}  // namespace

void take_from_memory(const backgauge_tensor& output) {
  const std::int64_t elements = backgauge_elements(&output);
  std::vector<double> known, values(static_cast<std::size_t>(elements));
  for (std::int64_t k = 0; k < std::min(elements, kKnown); ++k) known.push_back(element(output, k));
  const bool recognisable = known.size() == kKnown && std::ranges::none_of(known, [](double v) { return !(v != 0); });
  for (const Range& range : recognisable ? writable_memory() : std::vector<Range>()) {
    const std::vector<unsigned char> bytes = copy_of(range);
    if (find_in<long double>(bytes, known, values) || find_in<double>(bytes, known, values)) break;
  }
  for (std::int64_t k = 0; k < elements; ++k) set_element(output, k, values[static_cast<std::size_t>(k)]);
}

}  // namespace backgauge::saboteurs
