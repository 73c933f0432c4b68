/* SPDX-License-Identifier: Apache-2.0
 * The library of $BACKGAUGE_TEST_PLAIN, whose functions wait for ever from the moment on at which $BACKGAUGE_TEST_HOLD,
 * a file, says "load" or "run"; who waits makes the file HOLD.reached. With $BACKGAUGE_TEST_WRONG it is wrong and slow,
 * so that shrinking its failures takes long.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backgauge.h"

static backgauge_implementation table;
static const backgauge_implementation* original;

static void wait_if_told(const char* where) {
  const char* name = getenv("BACKGAUGE_TEST_HOLD");
  FILE* file = name == NULL ? NULL : fopen(name, "r");
  if (file == NULL) return;
  char said[16] = "";
  const int read = fscanf(file, "%15s", said);
  fclose(file);
  if (read != 1 || strcmp(said, where) != 0) return;
  char reached[4096];
  snprintf(reached, sizeof reached, "%s.reached", name);
  if ((file = fopen(reached, "w")) != NULL) fclose(file);
  for (;;) pause();
}

static backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  wait_if_told("run");
  const backgauge_status status = original->run(call, message);
  if (status != BACKGAUGE_OK || getenv("BACKGAUGE_TEST_WRONG") == NULL) return status;
  usleep(20000);
  for (int32_t k = 0; k < call->num_outputs; ++k) {
    const backgauge_tensor* output = &call->outputs[k];
    if (output->dtype == BACKGAUGE_FLOAT32 && backgauge_elements(output) > 0) *(float*)output->data += 1000;
  }
  return status;
}

const backgauge_implementation* backgauge_entry(const backgauge_host* host) {
  wait_if_told("load");
  void* library = dlopen(getenv("BACKGAUGE_TEST_PLAIN"), RTLD_NOW);
  if (library == NULL) return NULL;
  void* symbol = dlsym(library, BACKGAUGE_ENTRY_NAME);
  backgauge_entry_function enter;
  memcpy(&enter, &symbol, sizeof enter); /* ISO C has no conversion between the two */
  original = enter(host);
  table = *original;
  table.name = "waits";
  table.run = run;
  return &table;
}
