// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of a product in AMX tiles: they are finished, and written in the layout of the vector code.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_AMX_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_AMX_SUMS_INL_H
#undef BACKGAUGE_CPU_AMX_SUMS_INL_H
#else
#define BACKGAUGE_CPU_AMX_SUMS_INL_H
#endif
// clang-format on

#include "impl/cpu/amx/multiply.h"
#include "impl/cpu/kernels/gradients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// Adds the two sums of each block, and recomputes those that are not finite.
inline void finish_sums(const amx::BlockProduct& product) {
  const FloatTag d;
  float* sums = product.sums;
  for (std::int64_t row = 0; row < product.rows; ++row) {
    for (std::int64_t column = 0; column < product.columns; ++column, sums += amx::kSums) {
      Vector<float> zero = hn::Zero(d);
      for (std::int64_t k = 0; k < amx::kSums / 2; k += kLanes<float>) {
        const Vector<float> sum = hn::Add(hn::LoadU(d, sums + k), hn::LoadU(d, sums + amx::kSums / 2 + k));
        hn::StoreU(sum, d, sums + k);
        zero = hn::Add(zero, hn::Sub(sum, sum));  // a NaN, if a sum is infinite or a NaN
      }
      if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(zero, hn::Zero(d))))) continue;
      amx::multiply_plainly(product.left + row * product.left_stride, product.right + column * product.right_stride,
                            product.chunks, sums);
    }
  }
}

inline void write_state(const float* sums, std::int64_t rows, float* state, bool add) {
  const FloatTag d;
  for (std::int64_t row = 0; row < rows; ++row, state += kPanel<float>) {
    for (std::int64_t lane = 0; lane < kPanel<float>; lane += kLanes<float>) {
      const Vector<float> sum =
          hn::LoadU(d, sums + lane / amx::kSide * amx::kSums + row * amx::kSide + lane % amx::kSide);
      hn::StoreU(add ? hn::Add(hn::LoadU(d, state + lane), sum) : sum, d, state + lane);
    }
  }
}

template <class Out>
void write_rows(const float* sums, std::int64_t rows, const Out& out) {
  for (std::int64_t row = 0; row < rows; ++row, sums += amx::kSide) {
#if HWY_TARGET == HWY_SCALAR
    out.row(row, sums);
#else
    const FloatTag d;
    out.row(row, hn::LoadU(d, sums),
            hn::LoadU(d, sums + kLanes<float> / amx::kSide * amx::kSums + kLanes<float> % amx::kSide));
#endif
  }
}

// Copies `rows` rows of a panel to outputs of at most kTileRows rows.
template <class GetOutput>
void write_panel(const float* sums, std::int64_t first, std::int64_t rows, std::int64_t panel, GetOutput output) {
  for (std::int64_t begin = 0; begin < rows; begin += kTileRows) {
    const std::int64_t tall = std::min<std::int64_t>(kTileRows, rows - begin);
    const auto out = output(first + begin, panel);
    if constexpr (std::decay_t<decltype(out)>::kDirect) {
      write_rows(sums + begin * amx::kSide, tall, out);
    } else {
      alignas(64) float copy[kTileRows * kPanel<float>];
      write_rows(sums + begin * amx::kSide, tall, Partial<float>{copy});
      out.write(tall, copy);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
