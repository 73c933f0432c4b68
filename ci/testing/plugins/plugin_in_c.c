/* SPDX-License-Identifier: Apache-2.0
 * The shortest plug-in: LSTMBlockCellGrad in float32, in C, from backgauge.h alone.
 * Equations: reference/semantics.md 1.3.
 */
#include "backgauge.h"

static const backgauge_host* host;

static const float* in(const backgauge_call* call, const char* name) {
  return backgauge_find(call->inputs, call->num_inputs, name)->data;
}

static float* out(const backgauge_call* call, const char* name) {
  return backgauge_find(call->outputs, call->num_outputs, name)->data;
}

static backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  const backgauge_status status = host->validate(call, 0, message);
  if (status != BACKGAUGE_OK) return status;
  if (call->op != BACKGAUGE_LSTM_BLOCK_CELL_GRAD || call->dtype != BACKGAUGE_FLOAT32) return BACKGAUGE_UNSUPPORTED;

  const int64_t* shape = backgauge_find(call->inputs, call->num_inputs, "cs_prev")->shape;
  const int64_t B = shape[0], H = shape[1];
  const float *cs_prev = in(call, "cs_prev"), *cs = in(call, "cs"), *i = in(call, "i"), *f = in(call, "f");
  const float *o = in(call, "o"), *ci = in(call, "ci"), *co = in(call, "co"), *h_grad = in(call, "h_grad");
  const float *wci = in(call, "wci"), *wcf = in(call, "wcf"), *wco = in(call, "wco"), *cs_grad = in(call, "cs_grad");
  float *cs_prev_grad = out(call, "cs_prev_grad"), *dicfo = out(call, "dicfo");
  float *wci_grad = out(call, "wci_grad"), *wcf_grad = out(call, "wcf_grad"), *wco_grad = out(call, "wco_grad");

  for (int64_t j = 0; j < H; ++j) {
    /* Outputs may share memory with cs_grad, wci, wcf and wco: those are read before anything is written there. */
    const int peephole = call->attributes.use_peephole;
    const float ui = peephole ? wci[j] : 0, uf = peephole ? wcf[j] : 0, uo = peephole ? wco[j] : 0;
    float sum_i = 0, sum_f = 0, sum_o = 0;
    for (int64_t b = 0; b < B; ++b) {
      const int64_t k = b * H + j;
      const float d_o = o[k] * (1 - o[k]) * h_grad[k] * co[k];
      float dcs = (1 - co[k] * co[k]) * h_grad[k] * o[k] + cs_grad[k];
      if (peephole) dcs += d_o * uo;
      const float dci = (1 - ci[k] * ci[k]) * dcs * i[k];
      const float df = f[k] * (1 - f[k]) * dcs * cs_prev[k];
      const float di = i[k] * (1 - i[k]) * dcs * ci[k];
      float* gates = dicfo + b * 4 * H + j;
      gates[0] = di, gates[H] = dci, gates[2 * H] = df, gates[3 * H] = d_o;
      cs_prev_grad[k] = dcs * f[k];
      if (!peephole) continue;
      cs_prev_grad[k] += di * ui + df * uf;
      sum_i += di * cs_prev[k], sum_f += df * cs_prev[k], sum_o += d_o * cs[k];
    }
    wci_grad[j] = sum_i, wcf_grad[j] = sum_f, wco_grad[j] = sum_o;
  }
  return BACKGAUGE_OK;
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
                                               .name = "plugin_in_c",
                                               .version = "1",
                                               .description = "the shortest example",
                                               .memory_space = BACKGAUGE_HOST,
                                               .num_claims = 1,
                                               .claims = &op_claims,
                                               .run = run};

__attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(const backgauge_host* given) {
  host = given;
  return given->abi == BACKGAUGE_ABI ? &table : NULL;
}
