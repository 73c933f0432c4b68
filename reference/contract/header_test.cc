// SPDX-License-Identifier: Apache-2.0
// backgauge.h means the same in C11, C++17 and C++20.
#include <gtest/gtest.h>

#include "reference/contract/header_layout.h"

extern "C" {
extern const size_t backgauge_layout_c11[];
extern const size_t backgauge_layout_c11_count;
extern const size_t backgauge_layout_cxx17[];
int64_t backgauge_elements_c11(const backgauge_tensor* tensors, int32_t count, const char* name);
int64_t backgauge_elements_cxx17(const backgauge_tensor* tensors, int32_t count, const char* name);
uint16_t backgauge_round_trip_c11(uint16_t half);
uint16_t backgauge_round_trip_cxx17(uint16_t half);
}

namespace {

TEST(Header, StructsHaveOneLayout) {
  const size_t layout[] = BACKGAUGE_LAYOUT;
  ASSERT_EQ(backgauge_layout_c11_count, std::size(layout));
  for (size_t k = 0; k < std::size(layout); ++k) {
    EXPECT_EQ(backgauge_layout_c11[k], layout[k]) << k;
    EXPECT_EQ(backgauge_layout_cxx17[k], layout[k]) << k;
  }
}

TEST(Header, HelpersWorkInEveryLanguage) {
  backgauge_tensor tensors[3] = {};
  tensors[0].rank = 1;
  tensors[1] = {"w", nullptr, {12, 28}, 2, BACKGAUGE_FLOAT32, BACKGAUGE_HOST, 0};
  tensors[2] = {"seq_len_max", nullptr, {}, 0, BACKGAUGE_INT64, BACKGAUGE_HOST, 0};
  for (const auto elements : {backgauge_elements_c11, backgauge_elements_cxx17}) {
    EXPECT_EQ(elements(tensors, 3, "w"), 336);
    EXPECT_EQ(elements(tensors, 3, "seq_len_max"), 1);
    EXPECT_EQ(elements(tensors, 3, "b"), -1);
    EXPECT_EQ(elements(tensors, 1, "w"), -1);
    EXPECT_EQ(elements(nullptr, 0, "w"), -1);
  }
  constexpr uint16_t kHalves[] = {0x0000, 0x8000, 0x0001, 0x03ff, 0x3c00, 0x7bff, 0xfc00};
  for (const uint16_t half : kHalves) {
    EXPECT_EQ(backgauge_round_trip_c11(half), half);
    EXPECT_EQ(backgauge_round_trip_cxx17(half), half);
  }
}

TEST(Header, DtypesHaveTheirBytes) {
  EXPECT_EQ(backgauge_dtype_bytes(BACKGAUGE_HALF), 2u);
  EXPECT_EQ(backgauge_dtype_bytes(BACKGAUGE_FLOAT32), 4u);
  EXPECT_EQ(backgauge_dtype_bytes(BACKGAUGE_FLOAT64), 8u);
  EXPECT_EQ(backgauge_dtype_bytes(BACKGAUGE_INT64), 8u);
  EXPECT_EQ(backgauge_dtype_bytes(BACKGAUGE_BFLOAT16), 2u);
  for (const int32_t unknown : {0, 6, -1}) EXPECT_EQ(backgauge_dtype_bytes(unknown), 0u);
}

}  // namespace
