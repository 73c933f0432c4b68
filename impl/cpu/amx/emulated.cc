// SPDX-License-Identifier: Apache-2.0
// The tile instructions as Intel's manual describes TDPBF16PS: two chains of multiply-adds, over the even and the odd
// depth, are added to each other and then to the sum. All round to nearest even; subnormal inputs and results become 0.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "impl/cpu/amx/emulated.cc"
#include "impl/cpu/machine/targets.h"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on

#include <bit>
#include <cmath>
#include <cstring>

#include "impl/cpu/amx/kernel.h"
#include "impl/cpu/kernels/vectors-inl.h"
#include "impl/cpu/machine/path.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

class EmulatedTiles {
  using V = Vector<float>;
  static constexpr std::int64_t kSide = amx::kSide, kPairs = amx::kDeep / 2, L = kLanes<float>;
  static_assert(kSide % L == 0);

 public:
  template <int kTile>
  void load(const std::uint16_t* from) {
    load_pieces(from, operands_[kTile - 4]);
  }
  template <int kTile>
  void zero() {
    std::fill_n(&sums_[kTile][0][0], kSide * kSide, 0.0f);
  }
  template <int kTile>
  void load_sums(const float* from) {
    std::memcpy(sums_[kTile], from, sizeof sums_[kTile]);
  }
  template <int kTile>
  void store_sums(float* to) const {
    std::memcpy(to, sums_[kTile], sizeof sums_[kTile]);
  }
  template <int kSumsTile, int kLeft, int kRight>
  void dot() {
    add_product(operands_[kLeft - 4], operands_[kRight - 4], sums_[kSumsTile]);
  }

 private:
  // [row][parity][pair or column]
  using Operand = float[kSide][2][kSide];
  using Sums = float[kSide][kSide];

  static HWY_NOINLINE void load_pieces(const std::uint16_t* from, Operand& to) {
    for (std::int64_t row = 0; row < kSide; ++row) {
      for (std::int64_t k = 0; k < amx::kDeep; ++k) {
        std::uint32_t bits = std::uint32_t{from[row * amx::kDeep + k]} << 16;
        if ((bits & 0x7f800000) == 0) bits &= 0x80000000;
        to[row][k % 2][k / 2] = std::bit_cast<float>(bits);
      }
    }
  }

  static HWY_INLINE V flushed(V value) {
    const Tag<float> d;
    return hn::IfThenZeroElse(hn::Lt(hn::Abs(value), hn::Set(d, 0x1p-126f)), value);
  }
  static HWY_INLINE V multiply_add(V a, V b, V c) {
#if HWY_TARGET == HWY_SCALAR
    return flushed(V(std::fma(a.raw, b.raw, c.raw)));
#else
    return flushed(hn::MulAdd(a, b, c));
#endif
  }

  static HWY_NOINLINE void add_product(const Operand& left, const Operand& right, Sums& sums) {
    const Tag<float> d;
    for (std::int64_t row = 0; row < kSide; ++row) {
      for (std::int64_t column = 0; column < kSide; column += L) {
        V even = hn::Zero(d), odd = even;
        for (std::int64_t k = 0; k < kPairs; ++k) {
          even = multiply_add(hn::Set(d, left[row][0][k]), hn::LoadU(d, &right[k][0][column]), even);
          odd = multiply_add(hn::Set(d, left[row][1][k]), hn::LoadU(d, &right[k][1][column]), odd);
        }
        float* const to = &sums[row][column];
        hn::StoreU(flushed(hn::Add(flushed(hn::LoadU(d, to)), flushed(hn::Add(even, odd)))), d, to);
      }
    }
  }

  Operand operands_[4];
  Sums sums_[4];
};

void multiply_emulated(const amx::BlockProduct& product) { amx::multiply_blocks<EmulatedTiles>(product); }

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace backgauge::cpu {

void amx::multiply_emulated(const BlockProduct& product) { BACKGAUGE_ON_PATH(multiply_emulated(product)); }

}  // namespace backgauge::cpu
#endif
