// SPDX-License-Identifier: Apache-2.0
#include "properties/device/products.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "properties/device/runtime.h"

namespace backgauge::device {
// cudaDataType and cublasComputeType_t
struct ProductKind {
  int type, compute, scale;
  std::size_t bytes;
};

namespace {

// As cuBLASLt's header declares them: enumerations are int, handles and descriptors pointers.
struct Library {
  std::size_t (*cublasLtGetVersion)();
  int (*cublasLtCreate)(void** handle);
  int (*cublasLtDestroy)(void* handle);
  int (*cublasLtMatmulDescCreate)(void** description, int compute, int scale);
  int (*cublasLtMatmulDescDestroy)(void* description);
  int (*cublasLtMatrixLayoutCreate)(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                                    std::int64_t leading);
  int (*cublasLtMatrixLayoutDestroy)(void* layout);
  int (*cublasLtMatmul)(void* handle, void* description, const void* alpha, const void* a, void* layout_a,
                        const void* b, void* layout_b, const void* beta, const void* c, void* layout_c, void* d,
                        void* layout_d, const void* algorithm, void* workspace, std::size_t bytes, void* stream);
};

struct Found {
  Library functions{};
  std::string absence;
};

std::vector<std::string> named_libraries() {
  if (const char* named = std::getenv("BACKGAUGE_CUBLASLT")) return {named};
  if (std::getenv("BACKGAUGE_CUDART") != nullptr) return {};
  return {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"};
}

Found look_for_products() {
  Found out;
  if (!absence().empty()) {
    out.absence = absence();
    return out;
  }
  const std::vector<std::string> names = named_libraries();
  if (names.empty()) {
    out.absence = "no cuBLASLt: BACKGAUGE_CUDART names a runtime, and BACKGAUGE_CUBLASLT no library that fits it";
    return out;
  }
  void* library = nullptr;
  out.absence = "no cuBLASLt: none of";
  for (const std::string& name : names) {
    if (library == nullptr) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    out.absence += " " + name;
  }
  out.absence += " can be loaded (BACKGAUGE_CUBLASLT names another)";
  if (library == nullptr) return out;
  out.absence.clear();
  const auto take = [&]<class Function>(const char* name, Function& into) {
    into = reinterpret_cast<Function>(dlsym(library, name));
    if (into == nullptr) out.absence = "cuBLASLt has no function " + std::string(name);
  };
#define BACKGAUGE_TAKE(name) take(#name, out.functions.name);
  BACKGAUGE_TAKE(cublasLtGetVersion)
  BACKGAUGE_TAKE(cublasLtCreate)
  BACKGAUGE_TAKE(cublasLtDestroy)
  BACKGAUGE_TAKE(cublasLtMatmulDescCreate)
  BACKGAUGE_TAKE(cublasLtMatmulDescDestroy)
  BACKGAUGE_TAKE(cublasLtMatrixLayoutCreate)
  BACKGAUGE_TAKE(cublasLtMatrixLayoutDestroy)
  BACKGAUGE_TAKE(cublasLtMatmul)
#undef BACKGAUGE_TAKE
  return out;
}

const Found& products_library() {
  static const Found value = look_for_products();
  return value;
}

const Library& library() {
  if (!products_absence().empty()) throw Error(products_absence());
  return products_library().functions;
}

void check_product(int status, const char* what) {
  if (status != 0) throw Error(std::string(what) + ": cuBLAS status " + std::to_string(status));
}

ProductKind kind_of(Arithmetic arithmetic) {
  constexpr int kFloat = 0, kDouble = 1, kHalf = 2, kBfloat16 = 14;
  constexpr int kComputeFloat = 68, kComputeTf32 = 77, kComputeDouble = 70;
  switch (arithmetic) {
    case Arithmetic::kHalf: return {kHalf, kComputeFloat, kFloat, 2};
    case Arithmetic::kBfloat16: return {kBfloat16, kComputeFloat, kFloat, 2};
    case Arithmetic::kTf32: return {kFloat, kComputeTf32, kFloat, 4};
    case Arithmetic::kFloat32: return {kFloat, kComputeFloat, kFloat, 4};
    case Arithmetic::kFloat64: break;
  }
  return {kDouble, kComputeDouble, kDouble, 8};
}

std::size_t matrix_bytes(std::int64_t side, const ProductKind& kind) {
  return static_cast<std::size_t>(side) * static_cast<std::size_t>(side) * kind.bytes;
}

// NVIDIA's figure for Hopper; older devices need less.
constexpr std::size_t kWorkspace = std::size_t{32} << 20;
constexpr std::size_t kMatrixAlignment = 256;

}  // namespace

const std::string& products_absence() { return products_library().absence; }

std::string products_version() {
  if (!products_absence().empty()) return "";
  const std::size_t version = library().cublasLtGetVersion();  // 130100
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

struct SquareProduct::Parts {
  Parts(const ProductKind& kind, std::int64_t the_side, const Stream& the_stream)
      : is_double(kind.bytes == sizeof(double)),
        side(the_side),
        stream(the_stream),
        a(matrix_bytes(side, kind), kMatrixAlignment),
        b(matrix_bytes(side, kind), kMatrixAlignment),
        c(matrix_bytes(side, kind), kMatrixAlignment),
        workspace(kWorkspace, kMatrixAlignment) {}

  const bool is_double;
  const std::int64_t side;
  const Stream& stream;
  const Memory a, b, c, workspace;
  void *handle = nullptr, *description = nullptr, *layout = nullptr;
};

SquareProduct::SquareProduct(Arithmetic arithmetic, std::int64_t side, const Stream& stream)
    : parts_(std::make_unique<Parts>(kind_of(arithmetic), side, stream)) {
  Parts& p = *parts_;
  const ProductKind kind = kind_of(arithmetic);
  // Not zeros, with which products take less power: 0x3c3c... is 1.06 in half, and small but normal in the others.
  p.a.fill(std::byte{0x3c}, stream);
  p.b.fill(std::byte{0x3c}, stream);
  check_product(library().cublasLtCreate(&p.handle), "cublasLtCreate");
  check_product(library().cublasLtMatmulDescCreate(&p.description, kind.compute, kind.scale),
                "cublasLtMatmulDescCreate");
  const auto rows = static_cast<std::uint64_t>(side);
  check_product(library().cublasLtMatrixLayoutCreate(&p.layout, kind.type, rows, rows, side),
                "cublasLtMatrixLayoutCreate");
}

SquareProduct::~SquareProduct() {
  if (parts_->layout != nullptr) library().cublasLtMatrixLayoutDestroy(parts_->layout);
  if (parts_->description != nullptr) library().cublasLtMatmulDescDestroy(parts_->description);
  if (parts_->handle != nullptr) library().cublasLtDestroy(parts_->handle);
}

void SquareProduct::run() const {
  const Parts& p = *parts_;
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  const void* alpha = p.is_double ? static_cast<const void*>(&one_double) : &one;
  const void* beta = p.is_double ? static_cast<const void*>(&zero_double) : &zero;
  // Without an algorithm, cuBLASLt takes the one that it thinks best.
  check_product(library().cublasLtMatmul(p.handle, p.description, alpha, p.a.data(), p.layout, p.b.data(), p.layout,
                                         beta, p.c.data(), p.layout, p.c.data(), p.layout, nullptr, p.workspace.data(),
                                         p.workspace.size(), p.stream.get()),
                "cublasLtMatmul");
}

double SquareProduct::flops() const {
  const auto side = static_cast<double>(parts_->side);
  return 2 * side * side * side;
}

}  // namespace backgauge::device
