// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/dense_product.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/arithmetic/dense_product_scratch.h"

namespace backgauge {

template <class V>
void dense_product_baseline(const Product<V>& product);
#ifdef BACKGAUGE_X86_VECTORS
template <class V>
void dense_product_avx2(const Product<V>& product, const ColumnRange& range, const ProductScratch<V>& scratch);
template <class V>
void dense_product_avx512(const Product<V>& product, const ColumnRange& range, const ProductScratch<V>& scratch);
#elif defined(BACKGAUGE_ARM_VECTORS)
template <class V>
void dense_product_neon(const Product<V>& product, const ColumnRange& range, const ProductScratch<V>& scratch);
#endif

namespace {

template <class V>
using Blocked = void (*)(const Product<V>&, const ColumnRange&, const ProductScratch<V>&);

// nullptr: the machine has no fused multiply-add in vectors.
template <class V>
Blocked<V> choose() {
#ifdef BACKGAUGE_X86_VECTORS
  if (__builtin_cpu_supports("avx512f")) return dense_product_avx512<V>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return dense_product_avx2<V>;
  return nullptr;
#elif defined(BACKGAUGE_ARM_VECTORS)
  return dense_product_neon<V>;
#else
  return nullptr;
#endif
}

std::atomic<std::uint64_t> double_products, float_products;

// Memory that is not looked at before it is written; a thread keeps it for its next product.
template <class V>
class Room {
 public:
  V* of(std::ptrdiff_t count) {
    if (count > count_) {
      memory_ = std::make_unique_for_overwrite<V[]>(static_cast<std::size_t>(count));
      count_ = count;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<V[]> memory_;
  std::ptrdiff_t count_ = 0;
};

// Packing pays where every element is read several times. Smaller products have the same bits on all machines.
template <class V>
bool is_large(const Product<V>& p) {
  constexpr std::ptrdiff_t kLeastSide = 8, kLeastTerms = 1 << 15;
  return p.rows >= kLeastSide && p.cols >= kLeastSide && p.rows * p.inner * p.cols >= kLeastTerms;
}

template <class V>
void compute(Blocked<V> blocked, const Product<V>& product, const ColumnRange& range) {
  const std::ptrdiff_t terms = std::min(kBlockTerms, product.inner);
  thread_local Room<V> x, y;
  const std::ptrdiff_t rows = std::min(kBlockRows, product.rows) + kMostTileRows;
  blocked(product, range, {x.of(rows * terms), y.of(kMostTileColumns * terms)});
}

thread_local bool on_all_cores = false;

// Each part takes at least 80 us (2^22 products and sums at 99 GFLOP/s of float, AMD EPYC), which is longer than
// starting a thread. Parts begin where tiles of all instruction sets do.
std::vector<ColumnRange> parts_of(std::ptrdiff_t rows, std::ptrdiff_t inner, std::ptrdiff_t cols) {
  constexpr std::ptrdiff_t kLeastTerms = 1 << 22;
  const std::ptrdiff_t cores = on_all_cores ? std::max(1U, std::thread::hardware_concurrency()) : 1;
  const std::ptrdiff_t count = std::clamp<std::ptrdiff_t>(rows * inner * cols / kLeastTerms, 1, cores);
  const std::ptrdiff_t tiles = (cols + kMostTileColumns - 1) / kMostTileColumns;
  std::vector<ColumnRange> parts;
  for (std::ptrdiff_t k = 0; k < count; ++k) {
    const ColumnRange part{tiles * k / count * kMostTileColumns,
                           std::min(tiles * (k + 1) / count * kMostTileColumns, cols)};
    if (part.begin < part.end) parts.push_back(part);
  }
  return parts;
}

}  // namespace

ProductsOnAllCores::ProductsOnAllCores() : before_(std::exchange(on_all_cores, true)) {}
ProductsOnAllCores::~ProductsOnAllCores() { on_all_cores = before_; }

template <class V>
void dense_product(const Product<V>& product) {
  if (product.inner == 0) {
    if (!product.add) std::fill_n(product.out, product.rows * product.cols, V{0});
    return;
  }
  (std::is_same_v<V, float> ? float_products : double_products)
      .fetch_add(static_cast<std::uint64_t>(product.rows * product.inner * product.cols), std::memory_order_relaxed);
  static const Blocked<V> blocked = choose<V>();
  if (blocked == nullptr || !is_large(product)) return dense_product_baseline(product);
  const std::vector<ColumnRange> parts = parts_of(product.rows, product.inner, product.cols);
  std::vector<std::future<void>> others;
  for (std::size_t k = 1; k < parts.size(); ++k) {
    others.push_back(std::async(std::launch::async, [&, k] { compute(blocked, product, parts[k]); }));
  }
  compute(blocked, product, parts.front());
  for (std::future<void>& other : others) other.get();
}

ProductWork product_work() {
  return {2.0 * static_cast<double>(double_products.load()), 2.0 * static_cast<double>(float_products.load())};
}

template void dense_product(const Product<double>&);
template void dense_product(const Product<float>&);

}  // namespace backgauge
