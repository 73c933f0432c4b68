/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before the C library, it moves the day to BACKGAUGE_TEST_NOW, in seconds since 1970. */
#include <stdlib.h>
#include <time.h>

time_t time(time_t* out) {
  const char* given = getenv("BACKGAUGE_TEST_NOW");
  const time_t now = given == NULL ? 0 : (time_t)strtoll(given, NULL, 10);
  if (out != NULL) *out = now;
  return now;
}
