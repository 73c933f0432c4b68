// SPDX-License-Identifier: Apache-2.0
// A plug-in made for another version of the contract: only its version number may be read.
#include <cstdint>

#include "reference/contract/backgauge.h"

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host*) {
  static const struct { std::uint32_t abi = BACKGAUGE_ABI + 1; } kTable;
  return reinterpret_cast<const backgauge_implementation*>(&kTable);
}
