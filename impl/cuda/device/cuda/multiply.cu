// SPDX-License-Identifier: Apache-2.0
// cuBLASLt takes column-major matrices. A row-major matrix is its own transpose in column-major order, so the product
// is computed as result^T[columns, rows] = b^T a^T.
#include <cublasLt.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "impl/cuda/device/backend.h"
#include "impl/cuda/device/cuda/multiply.h"
#include "impl/cuda/device/settings.h"

namespace backgauge::cuda {
namespace {

void check_blas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw CallError(status == CUBLAS_STATUS_ALLOC_FAILED ? BACKGAUGE_OUT_OF_MEMORY : BACKGAUGE_DEVICE_ERROR,
                  std::string("cuBLASLt: ") + what + ": " + cublasLtGetStatusName(status));
}

// Owns a cuBLASLt descriptor.
template <class Handle, cublasStatus_t (*destroy)(Handle)>
struct Owned {
  Handle handle = nullptr;
  Owned() = default;
  Owned(Owned&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (handle != nullptr) destroy(handle);
  }
};
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

cudaDataType_t data_type(Type type) {
  return type == Type::kHalf ? CUDA_R_16F : type == Type::kFloat ? CUDA_R_32F : CUDA_R_64F;
}

cublasComputeType_t compute_type(Type operands) {
  if (operands == Type::kDouble) return CUBLAS_COMPUTE_64F;
  return operands == Type::kFloat && settings().takes_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

// The layout in memory: `rows` rows of `columns` elements, row-major.
Layout layout_of(Type type, std::int64_t rows, std::int64_t columns, std::int64_t stride, bool indirect) {
  Layout layout;
  check_blas(cublasLtMatrixLayoutCreate(&layout.handle, data_type(type), static_cast<std::uint64_t>(columns),
                                        static_cast<std::uint64_t>(rows), stride),
             "layout");
  if (indirect) {
    const std::uint32_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    const std::int32_t count = 1;
    check_blas(cublasLtMatrixLayoutSetAttribute(layout.handle, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode),
               "pointers");
    check_blas(
        cublasLtMatrixLayoutSetAttribute(layout.handle, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "pointers");
  }
  return layout;
}

// The descriptors of a product for cuBLASLt, whose A is b here.
struct Descriptors {
  Description description;
  Layout a, b, result;

  Descriptors(const Product& p, bool indirect)
      : a(layout_of(p.operands, p.b_transposed ? p.columns : p.depth, p.b_transposed ? p.depth : p.columns, p.b_stride,
                    indirect)),
        b(layout_of(p.operands, p.a_transposed ? p.depth : p.rows, p.a_transposed ? p.rows : p.depth, p.a_stride,
                    indirect)),
        result(layout_of(p.result, p.rows, p.columns, p.result_stride, indirect)) {
    check_blas(cublasLtMatmulDescCreate(&description.handle, compute_type(p.operands),
                                        p.operands == Type::kDouble ? CUDA_R_64F : CUDA_R_32F),
               "description");
    transpose(CUBLASLT_MATMUL_DESC_TRANSA, p.b_transposed);
    transpose(CUBLASLT_MATMUL_DESC_TRANSB, p.a_transposed);
  }

 private:
  void transpose(cublasLtMatmulDescAttributes_t which, bool transposed) {
    const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check_blas(cublasLtMatmulDescSetAttribute(description.handle, which, &operation, sizeof operation), "transpose");
  }
};

template <class Value>
void prefer(const Preference& preference, cublasLtMatmulPreferenceAttributes_t which, Value value) {
  check_blas(cublasLtMatmulPreferenceSetAttribute(preference.handle, which, &value, sizeof value), "preference");
}

std::optional<cublasLtMatmulAlgo_t> best_algorithm(cublasLtHandle_t handle, const Descriptors& descriptors,
                                                   const Product& p) {
  Preference preference;
  check_blas(cublasLtMatmulPreferenceCreate(&preference.handle), "preference");
  prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kProductScratchBytes));
  // Partial sums are never stored in half.
  prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  const auto alignment = [&](Type type) {
    return static_cast<std::uint32_t>(p.aligned ? kVectorBytes : bytes_of(type));
  };
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(p.operands));
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(p.operands));
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(p.result));
  prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(p.result));
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, descriptors.description.handle, descriptors.a.handle, descriptors.b.handle, descriptors.result.handle,
      descriptors.result.handle, preference.handle, 1, &best, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE || found == 0) return std::nullopt;
  check_blas(status, "choice of an algorithm");
  return best.algo;
}

// The cuBLASLt objects of a product, created once.
struct PreparedProduct {
  Descriptors descriptors;
  std::optional<cublasLtMatmulAlgo_t> algorithm;
};

class Library {
 public:
  cublasLtHandle_t handle(int device) {
    const std::lock_guard lock(mutex_);
    return handle_under_lock(device);
  }

  std::shared_ptr<const PreparedProduct> prepared(int device, const Product& product, bool indirect) {
    const std::lock_guard lock(mutex_);
    if (prepared_.size() >= kMostPrepared) prepared_.clear();
    std::shared_ptr<const PreparedProduct>& entry = prepared_[{device, indirect, product}];
    if (entry == nullptr) {
      auto made = std::make_shared<PreparedProduct>(PreparedProduct{Descriptors(product, indirect), {}});
      made->algorithm = best_algorithm(handle_under_lock(device), made->descriptors, product);
      entry = std::move(made);
    }
    return entry;
  }

 private:
  // Far more than the shapes of a program; the limit only keeps a stream of new shapes from filling the memory.
  static constexpr std::size_t kMostPrepared = 4096;

  cublasLtHandle_t handle_under_lock(int device) {
    cublasLtHandle_t& the = handles_[device];
    if (the == nullptr) check_blas(cublasLtCreate(&the), "start");
    return the;
  }

  std::mutex mutex_;
  std::map<int, cublasLtHandle_t> handles_;
  std::map<std::tuple<int, bool, Product>, std::shared_ptr<const PreparedProduct>> prepared_;
};

// Never destroyed, because the driver may already be unloaded at the end of the process.
Library& library() {
  static Library& the = *new Library;
  return the;
}

bool multiply(const Stream& stream, const Product& p, bool indirect, const void* a, const void* b, void* result) {
  const int device = current_device();
  const std::shared_ptr<const PreparedProduct> product = library().prepared(device, p, indirect);
  if (!product->algorithm) return false;
  const float one = 1, zero = 0;
  const double double_one = 1, double_zero = 0;
  const bool is_double = p.operands == Type::kDouble;
  const void* alpha = is_double ? static_cast<const void*>(&double_one) : &one;
  const void* beta = is_double ? static_cast<const void*>(p.added ? &double_one : &double_zero)
                               : static_cast<const void*>(p.added ? &one : &zero);
  const Descriptors& descriptors = product->descriptors;
  check_blas(cublasLtMatmul(library().handle(device), descriptors.description.handle, alpha, b, descriptors.a.handle, a,
                            descriptors.b.handle, beta, result, descriptors.result.handle, result,
                            descriptors.result.handle, &*product->algorithm, stream.scratch,
                            static_cast<std::size_t>(kProductScratchBytes), stream.stream),
             "product");
  return true;
}

}  // namespace

bool cublaslt_multiply(const Stream& stream, const Product& product, const Matrices& m) {
  return multiply(stream, product, false, m.a, m.b, m.result);
}

bool cublaslt_multiply(const Stream& stream, const Product& product, const IndirectMatrices& m) {
  // The library has the same type for pointers and for pointers to pointers.
  return multiply(stream, product, true, m.a, m.b, const_cast<void**>(m.result));
}

bool cublaslt_can_be_indirect(const Product& product) {
  return library().prepared(current_device(), product, true)->algorithm.has_value();
}

void prepare_cublaslt() { library().handle(current_device()); }

std::string cublaslt_version() {
  const std::size_t version = cublasLtGetVersion();  // 130100 for 13.1.0
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace backgauge::cuda
