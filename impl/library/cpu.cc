// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/table/cpu.h"

#include <string>

#include "impl/library/exported.h"

namespace {

struct Opened {
  std::string refusal;
  const backgauge_implementation* table = backgauge::cpu_implementation(refusal);
};

const Opened& opened() {
  static const Opened once;
  return once;
}

}  // namespace

BACKGAUGE_EXPORTED const backgauge_implementation* backgauge_cpu(void) { return opened().table; }

BACKGAUGE_EXPORTED const char* backgauge_cpu_refusal(void) { return opened().refusal.c_str(); }

// Makes this library a plug-in, which validates calls with its own copy of the contract.
BACKGAUGE_EXPORTED const backgauge_implementation* backgauge_entry(const backgauge_host* host) {
  return host == nullptr || host->abi != BACKGAUGE_ABI ? nullptr : backgauge_cpu();
}

BACKGAUGE_EXPORTED const char* backgauge_refusal(void) { return backgauge_cpu_refusal(); }
