// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic/dense_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "reference/arithmetic/dense_product_scratch.h"

namespace backgauge {

#ifdef BACKGAUGE_X86_VECTORS
// The kernel for AVX-512, made of AVX2.
template <class V>
void dense_product_of_long_vectors(const Product<V>& product, const ColumnRange& range,
                                   const ProductScratch<V>& scratch);
#endif

namespace {

struct Sizes {
  std::ptrdiff_t rows, inner, cols;
};

template <class V>
class DenseProduct : public testing::Test {
 protected:
  static constexpr double kRoundoff = std::is_same_v<V, float> ? 0x1p-24 : 0x1p-53;

  static std::vector<V> numbers(std::ptrdiff_t count, unsigned seed) {
    std::mt19937_64 engine(seed);
    std::vector<V> out;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      out.push_back(static_cast<V>(std::ldexp(static_cast<double>(engine() >> 11), -53) - 0.5));
    }
    return out;
  }
};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(DenseProduct, Types);

const Sizes kSizes[] = {{1, 1, 1},    {3, 0, 2},     {2, 5, 7},     {1, 300, 200},  {300, 200, 1},  {8, 512, 8},
                        {9, 517, 11}, {33, 65, 130}, {98, 257, 33}, {64, 512, 256}, {257, 31, 129}, {800, 300, 24}};

TYPED_TEST(DenseProduct, IsTheSumOfProducts) {
  for (const auto& [rows, inner, cols] : kSizes) {
    const std::vector<TypeParam> x = this->numbers(rows * inner, 1), y = this->numbers(inner * cols, 2);
    std::vector<TypeParam> out(static_cast<std::size_t>(rows * cols), NAN);
    dense_product(Product<TypeParam>{x.data(), y.data(), out.data(), rows, inner, cols});
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      for (std::ptrdiff_t c = 0; c < cols; ++c) {
        long double sum = 0;
        for (std::ptrdiff_t k = 0; k < inner; ++k) {
          sum += static_cast<long double>(x[static_cast<std::size_t>(r * inner + k)]) *
                 static_cast<long double>(y[static_cast<std::size_t>(k * cols + c)]);
        }
        // Terms are below 1/4: n of them, each rounded at most n times.
        const double n = static_cast<double>(inner), most = n * (n + 1) / 4 * this->kRoundoff;
        EXPECT_NEAR(out[static_cast<std::size_t>(r * cols + c)], static_cast<double>(sum), most)
            << rows << " " << inner << " " << cols;
      }
    }
  }
}

TYPED_TEST(DenseProduct, TransposesAndAdds) {
  for (const auto& [rows, inner, cols] : kSizes) {
    const std::vector<TypeParam> x = this->numbers(rows * inner, 1), y = this->numbers(inner * cols, 2);
    std::vector<TypeParam> turned(x.size()), want(static_cast<std::size_t>(rows * cols));
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      for (std::ptrdiff_t k = 0; k < inner; ++k) {
        turned[static_cast<std::size_t>(k * rows + r)] = x[static_cast<std::size_t>(r * inner + k)];
      }
    }
    dense_product(Product<TypeParam>{x.data(), y.data(), want.data(), rows, inner, cols});
    std::vector<TypeParam> got(want.size(), NAN);
    dense_product(Product<TypeParam>{turned.data(), y.data(), got.data(), rows, inner, cols, true});
    EXPECT_EQ(got, want) << rows << " " << inner << " " << cols;
    if (inner > 256) continue;  // in one block
    dense_product(Product<TypeParam>{turned.data(), y.data(), got.data(), rows, inner, cols, true, true});
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], 2 * want[k], 8 * this->kRoundoff * 64);
  }
}

#ifdef BACKGAUGE_X86_VECTORS
// Vectors of any length, the same bits: what a case is allowed must not depend on the machine.
TYPED_TEST(DenseProduct, HasTheSameBitsWithVectorsOfAnyLength) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    GTEST_SKIP() << "this machine has no fused multiply-add in vectors";
  }
  for (const auto& [rows, inner, cols] : {Sizes{33, 65, 130}, Sizes{98, 517, 33}, Sizes{64, 512, 256}}) {
    const std::vector<TypeParam> x = this->numbers(rows * inner, 1), y = this->numbers(inner * cols, 2);
    std::vector<TypeParam> want(static_cast<std::size_t>(rows * cols)), got(want.size(), NAN);
    dense_product(Product<TypeParam>{x.data(), y.data(), want.data(), rows, inner, cols});
    std::vector<TypeParam> for_x(static_cast<std::size_t>((kBlockRows + kMostTileRows) * kBlockTerms), NAN);
    std::vector<TypeParam> for_y(static_cast<std::size_t>(kMostTileColumns * kBlockTerms), NAN);
    dense_product_of_long_vectors(Product<TypeParam>{x.data(), y.data(), got.data(), rows, inner, cols}, {0, cols},
                                  {for_x.data(), for_y.data()});
    EXPECT_EQ(got, want) << rows << " " << inner << " " << cols;
  }
}
#endif

// The number of cores must not decide what a case is allowed. The second size is not a multiple of a tile.
TYPED_TEST(DenseProduct, HasTheSameBitsOnAnyNumberOfCores) {
  for (const auto& [rows, inner, cols] : {Sizes{128, 512, 256}, Sizes{67, 517, 513}, Sizes{2048, 2048, 8}}) {
    const std::vector<TypeParam> x = this->numbers(rows * inner, 1), y = this->numbers(inner * cols, 2);
    std::vector<TypeParam> want(static_cast<std::size_t>(rows * cols)), got(want.size(), NAN);
    dense_product(Product<TypeParam>{x.data(), y.data(), want.data(), rows, inner, cols});
    const ProductsOnAllCores on_all_cores;
    dense_product(Product<TypeParam>{x.data(), y.data(), got.data(), rows, inner, cols});
    EXPECT_EQ(got, want) << rows << " " << inner << " " << cols;
  }
}

// What a result is must not depend on where its memory happened to be.
TYPED_TEST(DenseProduct, HasTheSameBitsAtAnyAddress) {
  for (const auto& [rows, inner, cols] : kSizes) {
    std::vector<TypeParam> first;
    for (const std::ptrdiff_t offset : {0, 1, 2, 3, 4, 5, 6, 7}) {
      std::vector<TypeParam> x = this->numbers(rows * inner, 1), y = this->numbers(inner * cols, 2), out;
      x.insert(x.begin(), static_cast<std::size_t>(offset), 0);
      y.insert(y.begin(), static_cast<std::size_t>(7 - offset), 0);
      out.resize(static_cast<std::size_t>(rows * cols + offset));
      dense_product(
          Product<TypeParam>{x.data() + offset, y.data() + 7 - offset, out.data() + offset, rows, inner, cols});
      out.erase(out.begin(), out.begin() + offset);
      if (first.empty()) first = out;
      EXPECT_EQ(out, first) << rows << " " << inner << " " << cols;
    }
  }
}

}  // namespace
}  // namespace backgauge
