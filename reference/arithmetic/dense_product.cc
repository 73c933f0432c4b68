// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/dense_product.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "reference/arithmetic/dense_product_scratch.h"
#include "reference/arithmetic/product_work.h"

namespace backgauge {

template <class V>
void dense_product_baseline(const Product<V>& product);
#ifdef BACKGAUGE_X86_VECTORS
template <class V>
void dense_product_avx2(const Product<V>& product, const ProductScratch<V>& scratch);
template <class V>
void dense_product_avx512(const Product<V>& product, const ProductScratch<V>& scratch);
#elif defined(BACKGAUGE_ARM_VECTORS)
template <class V>
void dense_product_neon(const Product<V>& product, const ProductScratch<V>& scratch);
#endif

namespace {

template <class V>
using Blocked = void (*)(const Product<V>&, const ProductScratch<V>&);

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

}  // namespace

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
  const std::ptrdiff_t terms = std::min(kBlockTerms, product.inner);
  thread_local Room<V> x, y;
  const std::ptrdiff_t rows = std::min(kBlockRows, product.rows) + kMostTileRows;
  blocked(product, {x.of(rows * terms), y.of(kMostTileColumns * terms)});
}

ProductWork product_work() {
  return {2.0 * static_cast<double>(double_products.load()), 2.0 * static_cast<double>(float_products.load())};
}

template void dense_product(const Product<double>&);
template void dense_product(const Product<float>&);

}  // namespace backgauge
