/* SPDX-License-Identifier: Apache-2.0
 * A plug-in that answers every call with the bytes of files: $ANSWERS/<tensor>, in the storage dtype. So the same
 * outputs can be judged as an implementation's and as files. $ANSWERS_CLAIMS changes what it claims of each op that has
 * the property: "accuracy_class=2 recomputes_co=1", with the numbers of backgauge.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backgauge.h"

static backgauge_status answer(const backgauge_call* call, backgauge_message* message) {
  for (int32_t k = 0; k < call->num_outputs; ++k) {
    const backgauge_tensor* tensor = &call->outputs[k];
    const size_t bytes = (size_t)backgauge_elements(tensor) * backgauge_dtype_bytes(tensor->dtype);
    if (bytes == 0) continue; /* reserve_space too: prepare asks for none */
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("ANSWERS"), tensor->name);
    FILE* file = fopen(path, "rb");
    const size_t read = file == NULL ? 0 : fread(tensor->data, 1, bytes, file);
    if (file != NULL) fclose(file);
    if (read == bytes) continue;
    snprintf(message->text, sizeof message->text, "%s: expected %zu bytes, got %zu", tensor->name, bytes, read);
    return BACKGAUGE_INTERNAL;
  }
  return BACKGAUGE_OK;
}

static backgauge_status prepare(const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) {
  (void)call, (void)plan, (void)message;
  return BACKGAUGE_OK; /* no workspace, no reserve_space: the plan is zeros */
}

#define COMMON_CLAIMS                                                                                 \
  {"accuracy_class", BACKGAUGE_CLASS_A, 0, 0}, {"numerical_contract", BACKGAUGE_FP32_STRICT, 0, 0}, { \
    "determinism", BACKGAUGE_BITWISE, 0, 0                                                            \
  }

static backgauge_claim lstm_claims[] = {
    COMMON_CLAIMS,
    {"dtypes", BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32), 0, 0},
    {"use_peephole", BACKGAUGE_BIT(0) | BACKGAUGE_BIT(1), 0, 0},
    {"recomputes_co", 0, 0, 0},
    {"recomputes_forward", 0, 0, 0},
};
static backgauge_claim rnn_claims[] = {
    COMMON_CLAIMS,
    {"dtypes", BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32) | BACKGAUGE_BIT(BACKGAUGE_FLOAT64), 0,
     0},
    {"rnn_modes", BACKGAUGE_BIT(BACKGAUGE_LSTM) | BACKGAUGE_BIT(BACKGAUGE_GRU), 0, 0},
    {"input_modes", BACKGAUGE_BIT(BACKGAUGE_LINEAR_INPUT) | BACKGAUGE_BIT(BACKGAUGE_SKIP_INPUT), 0, 0},
    {"directions", BACKGAUGE_BIT(BACKGAUGE_UNIDIRECTIONAL) | BACKGAUGE_BIT(BACKGAUGE_BIDIRECTIONAL), 0, 0},
    {"relu_slope_at_zero", 0, 0, 0},
    {"tanh_absolute", 0, 0, 0},
    {"tanh_ulps", 0, 0, 0},
    {"sigmoid_absolute", 0, 0, 0},
    {"sigmoid_ulps", 0, 0, 0},
    {"masks_per_direction", 0, 0, 0},
};
enum { LSTM_CLAIMS = sizeof lstm_claims / sizeof *lstm_claims, RNN_CLAIMS = sizeof rnn_claims / sizeof *rnn_claims };
static const backgauge_op_claims claims[] = {{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, LSTM_CLAIMS, lstm_claims},
                                             {BACKGAUGE_BLOCK_LSTM_GRAD_V2, LSTM_CLAIMS, lstm_claims},
                                             {BACKGAUGE_CUDNN_RNN_BACKPROP, RNN_CLAIMS, rnn_claims}};

static const backgauge_implementation table = {.abi = BACKGAUGE_ABI,
                                               .struct_size = sizeof(backgauge_implementation),
                                               .name = "answers_from_files",
                                               .version = "1",
                                               .description = "whatever the files say",
                                               .memory_space = BACKGAUGE_HOST,
                                               .num_claims = sizeof claims / sizeof *claims,
                                               .claims = claims,
                                               .prepare = prepare,
                                               .run = answer,
                                               .forward = answer};

static void claim(backgauge_claim* each, int32_t count, const char* name, double value) {
  for (int32_t k = 0; k < count; ++k) {
    if (strcmp(each[k].property, name) == 0) each[k].value = value;
  }
}

__attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(const backgauge_host* host) {
  const char* changes = getenv("ANSWERS_CLAIMS");
  char name[64];
  double value = 0;
  for (int length = 0; changes != NULL && sscanf(changes, " %63[^=]=%lf%n", name, &value, &length) == 2;
       changes += length) {
    claim(lstm_claims, LSTM_CLAIMS, name, value);
    claim(rnn_claims, RNN_CLAIMS, name, value);
  }
  return host->abi == BACKGAUGE_ABI ? &table : NULL;
}
