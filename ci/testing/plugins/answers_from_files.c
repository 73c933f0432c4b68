/* SPDX-License-Identifier: Apache-2.0
 * A plug-in that answers every call with the bytes of files: $ANSWERS/<tensor>, in the storage dtype. So the same
 * outputs can be judged as an implementation's and as files. It claims the accuracy class of $ANSWERS_HALF_CLASS (1, 2
 * or 3), and to recompute co if $ANSWERS_RECOMPUTES_CO is set. */
#include <stdio.h>
#include <stdlib.h>

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

static backgauge_op_claims claims[] = {
    {.op = BACKGAUGE_LSTM_BLOCK_CELL_GRAD}, {.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2}, {.op = BACKGAUGE_CUDNN_RNN_BACKPROP}};

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

__attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(const backgauge_host* host) {
  const char* half_class = getenv("ANSWERS_HALF_CLASS");
  for (size_t k = 0; k < sizeof claims / sizeof *claims; ++k) {
    const int is_lstm = claims[k].op != BACKGAUGE_CUDNN_RNN_BACKPROP;
    claims[k].dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
    if (!is_lstm) claims[k].dtypes |= BACKGAUGE_BIT(BACKGAUGE_FLOAT64);
    claims[k].use_peephole = is_lstm ? BACKGAUGE_BIT(0) | BACKGAUGE_BIT(1) : 0;
    claims[k].rnn_modes = is_lstm ? 0 : BACKGAUGE_BIT(BACKGAUGE_LSTM) | BACKGAUGE_BIT(BACKGAUGE_GRU);
    claims[k].input_modes = is_lstm ? 0 : BACKGAUGE_BIT(BACKGAUGE_LINEAR_INPUT) | BACKGAUGE_BIT(BACKGAUGE_SKIP_INPUT);
    claims[k].directions =
        is_lstm ? 0 : BACKGAUGE_BIT(BACKGAUGE_UNIDIRECTIONAL) | BACKGAUGE_BIT(BACKGAUGE_BIDIRECTIONAL);
    claims[k].half_class = half_class == NULL ? BACKGAUGE_CLASS_A : atoi(half_class);
    claims[k].numerical_contract = BACKGAUGE_FP32_STRICT;
    claims[k].determinism = BACKGAUGE_BITWISE;
    claims[k].recomputes_co = is_lstm && getenv("ANSWERS_RECOMPUTES_CO") != NULL;
  }
  return host->abi == BACKGAUGE_ABI ? &table : NULL;
}
