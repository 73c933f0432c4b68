// SPDX-License-Identifier: Apache-2.0
// LSTMBlockCellGrad in float32 as a CUDA kernel, from backgauge.h alone. Equations: reference/semantics.md 1.3.
//   nvcc -std=c++17 -O2 -arch=sm_90 -shared -Xcompiler -fPIC lstm_block_cell_grad.cu -o libcell.so
//   c++ -std=c++17 -O2 -shared -fPIC -x c++ lstm_block_cell_grad.cu -o libcell-on-host.so    # the same on the CPU
#include "backgauge.h"

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

static const backgauge_host* host;

struct Cell {
  int64_t B, H;
  bool peephole;
  const float *cs_prev, *wci, *wcf, *wco, *i, *cs, *f, *o, *ci, *co, *cs_grad, *h_grad;
  float *cs_prev_grad, *dicfo, *wci_grad, *wcf_grad, *wco_grad;

  // What one thread computes: unit j of all samples, so that the sums over the batch need no atomics. Outputs may share
  // memory with cs_grad, wci, wcf and wco: those are read before anything is written there.
  BOTH void compute(int64_t j) const {
    const float ui = peephole ? wci[j] : 0, uf = peephole ? wcf[j] : 0, uo = peephole ? wco[j] : 0;
    float sum_i = 0, sum_f = 0, sum_o = 0;
    for (int64_t b = 0; b < B; ++b) {
      const int64_t k = b * H + j;
      const float d_o = o[k] * (1 - o[k]) * h_grad[k] * co[k];
      const float dcs = (1 - co[k] * co[k]) * h_grad[k] * o[k] + cs_grad[k] + (peephole ? d_o * uo : 0);
      const float dci = (1 - ci[k] * ci[k]) * dcs * i[k];
      const float df = f[k] * (1 - f[k]) * dcs * cs_prev[k], di = i[k] * (1 - i[k]) * dcs * ci[k];
      float* gates = dicfo + b * 4 * H + j;
      gates[0] = di, gates[H] = dci, gates[2 * H] = df, gates[3 * H] = d_o;
      cs_prev_grad[k] = dcs * f[k] + (peephole ? di * ui + df * uf : 0);
      if (peephole) sum_i += di * cs_prev[k], sum_f += df * cs_prev[k], sum_o += d_o * cs[k];
    }
    wci_grad[j] = sum_i, wcf_grad[j] = sum_f, wco_grad[j] = sum_o;
  }
};

#ifdef __CUDACC__
static const backgauge_memory_space space = BACKGAUGE_CUDA;

static __global__ void cell_kernel(Cell cell) {
  const int64_t j = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (j < cell.H) cell.compute(j);
}

// All work is ordered on the stream of the call, which need not have ended when the function returns.
static backgauge_status start(const Cell& cell, void* stream) {
  cell_kernel<<<(cell.H + 127) / 128, 128, 0, static_cast<cudaStream_t>(stream)>>>(cell);
  return cudaGetLastError() == cudaSuccess ? BACKGAUGE_OK : BACKGAUGE_DEVICE_ERROR;
}
#else
static const backgauge_memory_space space = BACKGAUGE_HOST;

static backgauge_status start(const Cell& cell, void*) {
  for (int64_t j = 0; j < cell.H; ++j) cell.compute(j);
  return BACKGAUGE_OK;
}
#endif

static backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  const backgauge_status status = host->validate(call, 0, message);
  if (status != BACKGAUGE_OK) return status;
  if (call->op != BACKGAUGE_LSTM_BLOCK_CELL_GRAD || call->dtype != BACKGAUGE_FLOAT32) return BACKGAUGE_UNSUPPORTED;
  if (call->memory_space != space) return BACKGAUGE_UNSUPPORTED;
  const auto in = [=](const char* name) { return backgauge_find(call->inputs, call->num_inputs, name); };
  const auto from = [=](const char* name) { return static_cast<const float*>(in(name)->data); };
  const auto to = [=](const char* name) {
    return static_cast<float*>(backgauge_find(call->outputs, call->num_outputs, name)->data);
  };
  const int64_t* shape = in("cs_prev")->shape;
  return start({shape[0],           shape[1],        call->attributes.use_peephole != 0,
                from("cs_prev"),    from("wci"),     from("wcf"),
                from("wco"),        from("i"),       from("cs"),
                from("f"),          from("o"),       from("ci"),
                from("co"),         from("cs_grad"), from("h_grad"),
                to("cs_prev_grad"), to("dicfo"),     to("wci_grad"),
                to("wcf_grad"),     to("wco_grad")},
               call->stream);
}

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* given) {
  static const backgauge_claim claims[] = {
      {"dtypes", BACKGAUGE_BIT(BACKGAUGE_FLOAT32), 0, 0},
      {"use_peephole", BACKGAUGE_BIT(0) | BACKGAUGE_BIT(1), 0, 0},
      {"numerical_contract", BACKGAUGE_FP32_STRICT, 0, 0},
      {"determinism", BACKGAUGE_BITWISE, 0, 0},
  };
  static const backgauge_op_claims op_claims = {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, sizeof claims / sizeof *claims, claims};
  static const backgauge_implementation table = {
      BACKGAUGE_ABI, sizeof table, "cell-in-cuda", "1",    "one op, one kernel", space, 1, &op_claims,
      nullptr,       run,          nullptr,        nullptr};
  host = given;
  return given->abi == BACKGAUGE_ABI ? &table : nullptr;
}
