// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/panel_product.h"

namespace backgauge {
namespace {

// kRows rows of two vectors of kBytes each, whose sums stay in registers.
template <int kBytes, int kRows>
[[gnu::always_inline]] inline void add_tile(const PanelProduct& p, std::int64_t row, std::int64_t column) {
  typedef double Vector __attribute__((vector_size(kBytes), aligned(sizeof(double)), may_alias));
  constexpr std::int64_t kLanes = kBytes / static_cast<int>(sizeof(double));
  const double* in = p.in + row * p.in_stride;
  const double* weights = p.panel + column;
  double* out = p.sums + row * kPanelColumns + column;
  Vector first[kRows], second[kRows];
  for (int r = 0; r < kRows; ++r) {
    first[r] = *reinterpret_cast<const Vector*>(out + r * kPanelColumns);
    second[r] = *reinterpret_cast<const Vector*>(out + r * kPanelColumns + kLanes);
  }
  for (std::int64_t k = 0; k < p.depth; ++k, weights += kPanelColumns) {
    const Vector left = *reinterpret_cast<const Vector*>(weights);
    const Vector right = *reinterpret_cast<const Vector*>(weights + kLanes);
    for (int r = 0; r < kRows; ++r) {
      const double value = in[r * p.in_stride + k];
      first[r] += value * left;
      second[r] += value * right;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    *reinterpret_cast<Vector*>(out + r * kPanelColumns) = first[r];
    *reinterpret_cast<Vector*>(out + r * kPanelColumns + kLanes) = second[r];
  }
}

template <int kBytes, int kRows>
[[gnu::always_inline]] inline void add_columns(const PanelProduct& p, std::int64_t row) {
  constexpr std::int64_t kColumns = 2 * kBytes / static_cast<int>(sizeof(double));
  for (std::int64_t column = 0; column < kPanelColumns; column += kColumns) add_tile<kBytes, kRows>(p, row, column);
}

// kMost rows at a time: as many as registers hold, and at most 8.
template <int kBytes, int kMost>
[[gnu::always_inline]] inline void add_rows(const PanelProduct& p) {
  std::int64_t row = 0;
  for (; row + kMost <= p.rows; row += kMost) add_columns<kBytes, kMost>(p, row);
  if constexpr (kMost > 4) {
    for (; row + 4 <= p.rows; row += 4) add_columns<kBytes, 4>(p, row);
  }
  for (; row + 2 <= p.rows; row += 2) add_columns<kBytes, 2>(p, row);
  if (row < p.rows) add_columns<kBytes, 1>(p, row);
}

void add_baseline(const PanelProduct& p) { add_rows<16, 4>(p); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) void add_avx2(const PanelProduct& p) { add_rows<32, 4>(p); }
__attribute__((target("avx512f"))) void add_avx512(const PanelProduct& p) { add_rows<64, 8>(p); }
#endif

using Add = void (*)(const PanelProduct&);

Add choose_add() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return add_avx512;
  if (__builtin_cpu_supports("avx2")) return add_avx2;
#endif
  return add_baseline;
}

}  // namespace

void add_panel_product(const PanelProduct& product) {
  static const Add add = choose_add();
  add(product);
}

}  // namespace backgauge
