// SPDX-License-Identifier: Apache-2.0
#include "impl/workspace.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace backgauge {
namespace {

// What an op takes.
struct Arrays {
  explicit Arrays(Workspace<64>& memory)
      : first(memory.take<float>({3, 5})),
        none(memory.take<double>({0, 7})),
        bytes(memory.take_bytes(65)),
        last(memory.take<double>({1})) {}

  float* first;
  double* none;
  std::byte* bytes;
  double* last;
};

TEST(Workspace, CountsWhatItDistributes) {
  Workspace<64> count;
  const Arrays counted(count);
  EXPECT_TRUE(count.counts_only());
  EXPECT_EQ(counted.first, nullptr);
  EXPECT_EQ(counted.last, nullptr);
  EXPECT_EQ(count.bytes(), 64 + 0 + 128 + 64);

  alignas(64) std::array<std::byte, 256> block{};
  Workspace<64> memory(block.data());
  const Arrays arrays(memory);
  EXPECT_FALSE(memory.counts_only());
  EXPECT_EQ(memory.bytes(), count.bytes());
  EXPECT_EQ(static_cast<void*>(arrays.first), block.data());
  EXPECT_EQ(arrays.bytes, block.data() + 64);
  EXPECT_EQ(static_cast<void*>(arrays.last), block.data() + 192);
}

TEST(Workspace, KnowsWhenItCannotCount) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  Workspace<64> fits;
  fits.take<float>({std::int64_t{1} << 57});
  EXPECT_TRUE(fits.countable());
  fits.take<float>({std::int64_t{1} << 57});
  EXPECT_FALSE(fits.countable()) << "2^60 bytes";

  Workspace<64> product;
  product.take<float>({kLargest, kLargest});
  EXPECT_FALSE(product.countable());

  Workspace<64> padding;
  padding.take_bytes(std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(padding.countable());

  Workspace<64> sum;
  for (int k = 0; k < 3; ++k) sum.take<std::byte>({kLargest});
  EXPECT_FALSE(sum.countable()) << "2^64 and more, which wraps around";
}

}  // namespace
}  // namespace backgauge
