/* SPDX-License-Identifier: Apache-2.0 */
#include <backgauge.h>

const backgauge_implementation* backgauge_entry(const backgauge_host* host);
const backgauge_implementation* backgauge_entry(const backgauge_host* host) {
  (void)host;
  return NULL;
}
