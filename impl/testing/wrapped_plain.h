// SPDX-License-Identifier: Apache-2.0
// A plug-in that is the plain implementation but for one function, under another name.
#pragma once

#include "impl/plain/plain.h"

namespace backgauge::testing {

using Run = decltype(backgauge_implementation::run);

inline const backgauge_implementation*& plain() {
  static const backgauge_implementation* table = nullptr;
  return table;
}

inline const backgauge_implementation* wrapped_plain(const backgauge_host* host, const char* name, Run run) {
  static backgauge_implementation table;
  plain() = plain_entry(host);
  table = *plain();
  table.name = name;
  table.description = "wrong on purpose";
  table.run = run;
  return &table;
}

}  // namespace backgauge::testing

// name: of the plug-in; run: what it does instead of plain()->run.
#define BACKGAUGE_WRAPPED_PLAIN(name, run)                                                           \
  extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry( \
      const backgauge_host* host) {                                                                  \
    return backgauge::testing::wrapped_plain(host, name, run);                                       \
  }
