/* SPDX-License-Identifier: Apache-2.0
 * A plug-in that ends the process as soon as it is asked to compute something.
 */
#include <stdlib.h>

#include "backgauge.h"

static backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  (void)call, (void)message;
  abort();
}

static const backgauge_claim claims[] = {
    {"dtypes", BACKGAUGE_BIT(BACKGAUGE_FLOAT32), 0, 0},
    {"use_peephole", BACKGAUGE_BIT(0) | BACKGAUGE_BIT(1), 0, 0},
    {"numerical_contract", BACKGAUGE_FP32_STRICT, 0, 0},
    {"determinism", BACKGAUGE_BITWISE, 0, 0},
};
static const backgauge_op_claims op_claims = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, sizeof claims / sizeof *claims, claims};

static const backgauge_implementation table = {.abi = BACKGAUGE_ABI,
                                               .struct_size = sizeof(backgauge_implementation),
                                               .name = "crashing_plugin",
                                               .version = "1",
                                               .description = "aborts",
                                               .memory_space = BACKGAUGE_HOST,
                                               .num_claims = 1,
                                               .claims = &op_claims,
                                               .run = run};

__attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(const backgauge_host* host) {
  (void)host;
  return &table;
}
