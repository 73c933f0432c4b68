// SPDX-License-Identifier: Apache-2.0
// The plug-in: reference/semantics.md 2.3, expression by expression. Each reads its operands from memory and writes its
// result there, as TensorFlow's do.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <memory>
#include <string>

#include "impl/device_absence.h"
#include "impl/table_of_ops.h"
#include "reference/contract/call.h"

namespace backgauge::cublas {
namespace {

// Aligned to what cudaMalloc gives.
using Workspace = backgauge::Workspace<256>;

constexpr int kThreads = 256;
constexpr std::size_t kProductBytes = std::size_t{32} << 20;  // what cuBLAS asks for on the newest devices

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw CallError(BACKGAUGE_DEVICE_ERROR, std::string(what) + ": " + cudaGetErrorString(error));
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw CallError(BACKGAUGE_DEVICE_ERROR, std::string(what) + ": " + cublasGetStatusString(status));
}

template <class Body>
__global__ void for_each_index(std::int64_t count, Body body) {
  const std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k < count) body(k);
}

struct DestroysHandle {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};

cublasHandle_t thread_handle() {
  thread_local std::unique_ptr<cublasContext, DestroysHandle> handle;
  if (handle == nullptr) {
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made), "cublasCreate");
    handle.reset(made);
  }
  return handle.get();
}

// A struct, since a private function must not contain an extended lambda.
template <class S>
struct Loop {
  // Where the memory only counts, run() must not be called.
  Loop(const backgauge_call& call, const Extents& extents, Workspace& memory)
      : c_(BlockLstmGradV2Call<S>::bind(call, extents)),
        stream_(static_cast<cudaStream_t>(call.stream)),
        rows_(c_.B),
        width_(c_.H),
        area_(c_.B * c_.H) {
    S** const arrays[] = {&C_, &Hh_, &do_, &dcs_, &dci_, &df_, &di_};
    for (S** array : arrays) *array = memory.take<S>({area_});
    gates_ = memory.take<S>({4, area_});
    xh_ = memory.take<S>({rows_, c_.I + width_});
    xh_grad_ = memory.take<S>({rows_, c_.I + width_});
    product_ = memory.take_bytes(kProductBytes);
  }

  void run() {
    clear();
    if (c_.S == 0 || area_ == 0) return;
    check(cublasSetStream(thread_handle(), stream_), "cublasSetStream");
    check(cublasSetWorkspace(thread_handle(), product_, kProductBytes), "cublasSetWorkspace");
    for (std::int64_t t = c_.S - 1; t >= 0; --t) step(t);
  }

  void zero(S* data, std::int64_t count) const {
    check(cudaMemsetAsync(data, 0, static_cast<std::size_t>(count) * sizeof(S), stream_), "cudaMemsetAsync");
  }

  // x_grad beyond the last step is what no step writes.
  void clear() const {
    const std::int64_t done = c_.S * rows_ * c_.I;
    zero(c_.x_grad + done, c_.T * rows_ * c_.I - done);
    zero(c_.cs_prev_grad, area_);
    zero(c_.h_prev_grad, area_);
    zero(c_.w_grad, (c_.I + width_) * 4 * width_);
    S* const vectors[] = {c_.wci_grad, c_.wcf_grad, c_.wco_grad};
    for (S* vector : vectors) zero(vector, width_);
    zero(c_.b_grad, 4 * width_);
  }

  template <class Body>
  void each(std::int64_t count, Body body) const {
    if (count == 0) return;
    for_each_index<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream_>>>(count, body);
    check(cudaGetLastError(), "a kernel's launch");
  }

  // to[:, at : at + columns] = from[:, first : first + columns]
  void copy_columns(const S* from, std::int64_t from_width, std::int64_t first, S* to, std::int64_t to_width,
                    std::int64_t at, std::int64_t columns) const {
    each(rows_ * columns, [=] __device__(std::int64_t k) {
      const std::int64_t row = k / columns, column = k % columns;
      to[row * to_width + at + column] = from[row * from_width + first + column];
    });
  }

  // sum[j] += the sum over the rows of a[:, j] * b[:, j], or of a[:, j] alone.
  void add_columns(const S* a, const S* b, std::int64_t columns, S* sum) const {
    const std::int64_t rows = rows_;
    each(columns, [=] __device__(std::int64_t j) {
      S total = sum[j];
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t k = row * columns + j;
        total = total + (b == nullptr ? a[k] : a[k] * b[k]);
      }
      sum[j] = total;
    });
  }

  static constexpr cudaDataType_t kType = sizeof(S) == 2 ? CUDA_R_16F : CUDA_R_32F;

  // Column-major, as cuBLAS has it: what is row-major here is transposed there.
  void multiply(cublasOperation_t a_form, cublasOperation_t b_form, std::int64_t m, std::int64_t n, std::int64_t k,
                const S* a, std::int64_t a_step, const S* b, std::int64_t b_step, float keep, S* result) const {
    const float one = 1;
    check(cublasGemmEx(thread_handle(), a_form, b_form, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
                       &one, a, kType, static_cast<int>(a_step), b, kType, static_cast<int>(b_step), &keep, result,
                       kType, static_cast<int>(m), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  }

  void step(std::int64_t t) const {
    const std::int64_t at = t * area_, H = width_, I = c_.I, both = I + H;
    const S *i = c_.i + at, *f = c_.f + at, *o = c_.o + at, *ci = c_.ci + at, *co = c_.co + at, *cs = c_.cs + at;
    const S* cp = t == 0 ? c_.cs_prev : c_.cs + at - area_;
    const S* hp = t == 0 ? c_.h_prev : c_.h + at - area_;
    gates(cp, i, f, o, ci, co, c_.cs_grad + at, c_.h_grad + at);
    const S* const parts[] = {di_, df_, dci_, do_};
    for (int gate = 0; gate < 4; ++gate) copy_columns(parts[gate], H, 0, gates_, 4 * H, gate * H, H);
    carry(f);
    multiply(CUBLAS_OP_T, CUBLAS_OP_N, both, rows_, 4 * H, c_.w, 4 * H, gates_, 4 * H, 0, xh_grad_);
    copy_columns(c_.x + t * rows_ * I, I, 0, xh_, both, 0, I);
    copy_columns(hp, H, 0, xh_, both, I, H);
    copy_columns(xh_grad_, both, 0, c_.x_grad + t * rows_ * I, I, 0, I);
    copy_columns(xh_grad_, both, I, c_.h_prev_grad, H, 0, H);
    multiply(CUBLAS_OP_N, CUBLAS_OP_T, 4 * H, both, rows_, gates_, 4 * H, xh_, both, 1, c_.w_grad);
    add_columns(gates_, nullptr, 4 * H, c_.b_grad);
    if (!c_.peephole) return;
    add_columns(di_, cp, H, c_.wci_grad);
    add_columns(df_, cp, H, c_.wcf_grad);
    add_columns(do_, cs, H, c_.wco_grad);
  }

  void gates(const S* cp, const S* i, const S* f, const S* o, const S* ci, const S* co, const S* cs_grad,
             const S* h_grad) const {
    const std::int64_t H = width_;
    S *C = C_, *Hh = Hh_, *d_o = do_, *dcs = dcs_, *dci = dci_, *df = df_, *di = di_;
    const S *cs_prev_grad = c_.cs_prev_grad, *h_prev_grad = c_.h_prev_grad, *wco = c_.wco;
    each(area_, [=] __device__(std::int64_t k) { C[k] = cs_prev_grad[k] + cs_grad[k]; });
    each(area_, [=] __device__(std::int64_t k) { Hh[k] = h_prev_grad[k] + h_grad[k]; });
    each(area_, [=] __device__(std::int64_t k) { d_o[k] = o[k] * (S(1.0f) - o[k]) * Hh[k] * co[k]; });
    each(area_, [=] __device__(std::int64_t k) { dcs[k] = (S(1.0f) - co[k] * co[k]) * Hh[k] * o[k] + C[k]; });
    if (c_.peephole) each(area_, [=] __device__(std::int64_t k) { dcs[k] = dcs[k] + d_o[k] * wco[k % H]; });
    each(area_, [=] __device__(std::int64_t k) { dci[k] = (S(1.0f) - ci[k] * ci[k]) * dcs[k] * i[k]; });
    each(area_, [=] __device__(std::int64_t k) { df[k] = f[k] * (S(1.0f) - f[k]) * dcs[k] * cp[k]; });
    each(area_, [=] __device__(std::int64_t k) { di[k] = i[k] * (S(1.0f) - i[k]) * dcs[k] * ci[k]; });
  }

  void carry(const S* f) const {
    const std::int64_t H = width_;
    S* const cs_prev_grad = c_.cs_prev_grad;
    const S *dcs = dcs_, *di = di_, *df = df_, *wci = c_.wci, *wcf = c_.wcf;
    each(area_, [=] __device__(std::int64_t k) { cs_prev_grad[k] = dcs[k] * f[k]; });
    if (!c_.peephole) return;
    each(area_, [=] __device__(std::int64_t k) {
      cs_prev_grad[k] = cs_prev_grad[k] + di[k] * wci[k % H] + df[k] * wcf[k % H];
    });
  }

  const BlockLstmGradV2Call<S> c_;
  const cudaStream_t stream_;
  const std::int64_t rows_, width_, area_;
  S *C_, *Hh_, *do_, *dcs_, *dci_, *df_, *di_, *gates_, *xh_, *xh_grad_;
  void* product_;
};

// If the memory only counts, only the memory is taken, and the call has no addresses.
void block_lstm_grad_v2(const backgauge_call& call, const Extents& extents, Workspace& memory) {
  const auto execute = [&](auto loop) {
    if (!memory.counts_only()) loop.run();
  };
  return call.dtype == BACKGAUGE_HALF ? execute(Loop<__half>(call, extents, memory))
                                      : execute(Loop<float>(call, extents, memory));
}

std::vector<Claims> claims() {
  Claims claims(BACKGAUGE_BLOCK_LSTM_GRAD_V2);
  claims.accuracy_class = BACKGAUGE_CLASS_B;
  claims.determinism = BACKGAUGE_NOT_DETERMINISTIC;  // cuBLAS chooses kernels by alignment, too
  return {claims};
}

constexpr TableOps<Workspace> kOps{.claims = claims, .execute = block_lstm_grad_v2, .memory_space = BACKGAUGE_CUDA};

const std::string& absence() {
  static const std::string text = device_absence();
  return text;
}

}  // namespace
}  // namespace backgauge::cublas

using namespace backgauge::cublas;

extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry(
    const backgauge_host* host) {
  if (host == nullptr || host->abi != BACKGAUGE_ABI || !absence().empty()) return nullptr;
  static const backgauge_implementation table =
      backgauge::Table<kOps>::make("cublas", BACKGAUGE_CUBLAS_VERSION,
                                   "TensorFlow's loop for a GPU: a kernel for each expression, two products a step");
  return &table;
}

extern "C" __attribute__((visibility("default"))) const char* backgauge_refusal() { return absence().c_str(); }
