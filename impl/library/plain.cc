// SPDX-License-Identifier: Apache-2.0
#include "impl/plain/plain.h"

#include "impl/library/exported.h"

BACKGAUGE_EXPORTED const backgauge_implementation* backgauge_plain(void) {
  return backgauge::plain_entry(backgauge_library_host());
}
