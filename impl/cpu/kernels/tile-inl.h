// SPDX-License-Identifier: Apache-2.0
// The innermost product: a tile of at most kTileRows rows by one panel of columns. Every element is one chain of
// multiply-adds in the order of the depth, whichever tile it is in and however the depth is split: the bits of a
// product depend only on its operands.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_TILE_INL_H
#undef BACKGAUGE_CPU_TILE_INL_H
#else
#define BACKGAUGE_CPU_TILE_INL_H
#endif
// clang-format on

#include <algorithm>

#include "impl/cpu/kernels/blocks.h"
#include "impl/cpu/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// A depth in chunks of kPanel, in which the last chunk of each group of `group` has `tail` elements.
struct Depth {
  std::int64_t first, end;  // chunks
  std::int64_t group, tail;
};

// The operands of a tile. b: [depth, kPanel]. a: chunks `a_chunk` elements apart, of
//   kAcross  [rows, kPanel], the depth along a row
//   kDown    [kPanel, rows], the rows next to each other
// ahead: memory that is needed next; `ahead_lines` lines of it are prefetched per chunk.
// narrow: only the first vector of the columns is summed; the sums of the other are 0.
enum class Layout { kAcross, kDown };
template <class T>
struct Operands {
  const T* a;
  std::int64_t a_chunk;
  const T* b;
  Depth depth;
  const T* ahead;
  std::int64_t ahead_lines;
  bool narrow = false;
};

// How many panels of a number of columns need both of their vectors: all, or all but the last.
template <class T>
constexpr std::int64_t wide_panels(std::int64_t columns) {
  return blocks(kVectors<T> == 2 ? columns - kLanes<T> : columns, kPanel<T>);
}

// Destinations of the sums of a tile: kept for the next part of the depth, or written out.
//   fetch(r)    before the first sum, for each row
//   chunk()     before each chunk of the depth
//   row(r, ...) the sums of a row
// A tile is compiled for each of its numbers of rows, so it is compiled for few destinations. Those with write(rows,
// sums) and not kDirect are written from sums [rows, kPanel] that a tile has left in L1, see write_tile().
template <class T>
struct Partial {
  T* to;  // [rows, kPanel]

  void fetch(std::int64_t) const {}
  void chunk() const {}

#if HWY_TARGET == HWY_SCALAR
  void row(std::int64_t r, const T* sums) const {
    for (std::int64_t j = 0; j < kPanel<T>; ++j) to[r * kPanel<T> + j] = sums[j];
  }
#else
  HWY_INLINE void row(std::int64_t r, Vector<T> low, Vector<T> high) const {
    const Tag<T> d;
    store(d, low, to + r * kPanel<T>);
    store(d, high, to + r * kPanel<T> + kLanes<T>);
  }
#endif
};

template <class T, class S>
struct Output {
  static constexpr bool kDirect = std::is_same_v<S, T>;

  S* to;  // [rows, live], rounded to S
  std::int64_t stride, live;
  bool add = false;      // to the previous contents
  bool streams = false;  // non-temporal stores: S is T, its vectors are aligned, and hwy::FlushStream() follows

  // Prefetches the lines of a row long before they are written, because rows are far apart in memory.
  HWY_INLINE void fetch(std::int64_t r) const {
    if (streams) return;
    hwy::Prefetch(to + r * stride);
    hwy::Prefetch(to + r * stride + live - 1);
  }
  void chunk() const {}

#if HWY_TARGET == HWY_SCALAR
  void row(std::int64_t r, const T* sums) const {
    S* const at = to + r * stride;
    for (std::int64_t j = 0; j < live; ++j) at[j] = S(add ? wide(at[j]) + sums[j] : sums[j]);
  }
#else
  HWY_INLINE void row(std::int64_t r, Vector<T> low, Vector<T> high) const {
    const Tag<T> d;
    S* const at = to + r * stride;
    if (HWY_UNLIKELY(add)) {
      low = hn::Add(load_part(d, at, std::min(live, kLanes<T>)), low);
      high = hn::Add(load_part(d, at + kLanes<T>, std::max(live - kLanes<T>, std::int64_t{0})), high);
    }
    if (HWY_LIKELY(live == kPanel<T>)) {
      if constexpr (std::is_same_v<S, T>) {
        if (streams) {
          hn::Stream(low, d, at);
          hn::Stream(high, d, at + kLanes<T>);
          return;
        }
      }
      store(d, low, at);
      store(d, high, at + kLanes<T>);
    } else if (live >= kLanes<T>) {
      store(d, low, at);
      store_part(d, high, at + kLanes<T>, live - kLanes<T>);
    } else {
      store_part(d, low, at, live);
    }
  }
#endif

  HWY_INLINE void write(std::int64_t rows, const T* sums) const {
    for (std::int64_t r = 0; r < rows; ++r, sums += kPanel<T>) {
#if HWY_TARGET == HWY_SCALAR
      row(r, sums);
#else
      const Tag<T> d;
      row(r, load(d, sums), load(d, sums + kLanes<T>));
#endif
    }
  }
};

#if HWY_TARGET != HWY_SCALAR
// Stores four columns of two rows as two elements of each of four rows.
HWY_INLINE void store_pair(const float* row, const float* next, float* to, std::int64_t stride) {
  const hn::FixedTag<float, 4> d;
  const hn::Half<decltype(d)> pair;
  const auto a = load(d, row), b = load(d, next);
  const auto first = hn::InterleaveLower(d, a, b), second = hn::InterleaveUpper(d, a, b);
  hn::StoreU(hn::LowerHalf(pair, first), pair, to);
  hn::StoreU(hn::UpperHalf(pair, first), pair, to + stride);
  hn::StoreU(hn::LowerHalf(pair, second), pair, to + 2 * stride);
  hn::StoreU(hn::UpperHalf(pair, second), pair, to + 3 * stride);
}
HWY_INLINE void store_pair(const double* row, const double* next, double* to, std::int64_t stride) {
  const hn::FixedTag<double, 2> d;
  for (std::int64_t j = 0; j < 4; j += 2, to += 2 * stride) {
    const auto a = load(d, row + j), b = load(d, next + j);
    hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
    hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + stride);
  }
}
#endif

// The same with rows and columns exchanged, in the type of the computation.
template <class T>
struct TransposedOutput {
  static constexpr bool kDirect = false;

  T* to;  // [live, rows]
  std::int64_t stride, live;

  void fetch(std::int64_t) const {}

  HWY_INLINE void write(std::int64_t rows, const T* sums) const {
    constexpr std::int64_t P = kPanel<T>;
    std::int64_t column = 0;
#if HWY_TARGET != HWY_SCALAR
    for (; column + 4 <= live; column += 4) {
      T* const out = to + column * stride;
      const T* const from = sums + column;
      for (std::int64_t r = 0; r + 2 <= rows; r += 2) store_pair(from + r * P, from + (r + 1) * P, out + r, stride);
      if (rows % 2 != 0) {
        for (std::int64_t j = 0; j < 4; ++j) out[j * stride + rows - 1] = from[(rows - 1) * P + j];
      }
    }
#endif
    for (; column < live; ++column) {
      for (std::int64_t r = 0; r < rows; ++r) to[column * stride + r] = sums[r * P + column];
    }
  }
};

#if HWY_TARGET == HWY_SCALAR

template <int kRows, bool kNarrow, Layout kLayout, class T, class Sums>
void tile(const Operands<T>& x, const T* before, const Sums& sums) {
  constexpr std::int64_t P = kPanel<T>;
  T sum[kRows][P];
  for (int r = 0; r < kRows; ++r) {
    for (std::int64_t j = 0; j < P; ++j) sum[r][j] = before == nullptr ? T(0) : before[r * P + j];
  }
  const T *a = x.a, *b = x.b;
  for (std::int64_t chunk = x.depth.first; chunk < x.depth.end; ++chunk, a += x.a_chunk) {
    sums.chunk();
    const std::int64_t count = (chunk + 1) % x.depth.group == 0 ? x.depth.tail : P;
    for (std::int64_t k = 0; k < count; ++k, b += P) {
      for (int r = 0; r < kRows; ++r) {
        const T value = kLayout == Layout::kAcross ? a[r * P + k] : a[k * kRows + r];
        for (std::int64_t j = 0; j < P; ++j) sum[r][j] += value * b[j];
      }
    }
  }
  for (int r = 0; r < kRows; ++r) sums.row(r, sum[r]);
}

#else

// Sums as named variables, because compilers keep arrays of vectors in memory.
#define BACKGAUGE_FOR_ROWS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13)
static_assert(kTileRows <= 14);
#define BACKGAUGE_FETCH(r) \
  if constexpr (kRows > r) sums.fetch(r);
#define BACKGAUGE_BEGIN(r)                                                        \
  [[maybe_unused]] Vector<T> low##r = hn::Zero(d), high##r = low##r;              \
  if constexpr (kRows > r) {                                                      \
    if (before != nullptr) {                                                      \
      low##r = hn::LoadU(d, before + r * P);                                      \
      if constexpr (!kNarrow) high##r = hn::LoadU(d, before + r * P + kLanes<T>); \
    }                                                                             \
  }
#define BACKGAUGE_STEP(r)                                                 \
  if constexpr (kRows > r) {                                              \
    const Vector<T> value = hn::Set(d, a[k * kStep + r * kRowStep]);      \
    low##r = hn::MulAdd(value, b_low, low##r);                            \
    if constexpr (!kNarrow) high##r = hn::MulAdd(value, b_high, high##r); \
  }
#define BACKGAUGE_END(r) \
  if constexpr (kRows > r) sums.row(r, low##r, high##r);

template <int kRows, bool kNarrow, Layout kLayout, class T, class Sums>
HWY_NOINLINE void tile(const Operands<T>& x, const T* before, const Sums& sums) {
  constexpr std::int64_t P = kPanel<T>, kStep = kLayout == Layout::kAcross ? 1 : kRows,
                         kRowStep = kLayout == Layout::kAcross ? P : 1;
  const Tag<T> d;
  BACKGAUGE_FOR_ROWS(BACKGAUGE_FETCH)
  BACKGAUGE_FOR_ROWS(BACKGAUGE_BEGIN)
  const T *a = x.a, *b = x.b;
  const std::int64_t a_chunk = x.a_chunk, group = x.depth.group;
  constexpr std::int64_t kLine = 64 / sizeof(T);
  const T* ahead = x.ahead;
  std::int64_t left = group - x.depth.first % group;  // chunks in this group
  for (std::int64_t chunks = x.depth.end - x.depth.first; chunks > 0; --chunks, a += a_chunk) {
    for (std::int64_t line = 0; line < x.ahead_lines; ++line, ahead += kLine) hwy::Prefetch(ahead);
    sums.chunk();
    std::int64_t count = P;
    if (--left == 0) {
      left = group;
      count = x.depth.tail;
    }
    if (HWY_LIKELY(count == P)) {
#pragma GCC unroll 4
      for (std::int64_t k = 0; k < P; ++k, b += P) {
        const Vector<T> b_low = hn::LoadU(d, b);
        [[maybe_unused]] const Vector<T> b_high = kNarrow ? b_low : hn::LoadU(d, b + kLanes<T>);
        BACKGAUGE_FOR_ROWS(BACKGAUGE_STEP)
      }
    } else {
      for (std::int64_t k = 0; k < count; ++k, b += P) {
        const Vector<T> b_low = hn::LoadU(d, b);
        [[maybe_unused]] const Vector<T> b_high = kNarrow ? b_low : hn::LoadU(d, b + kLanes<T>);
        BACKGAUGE_FOR_ROWS(BACKGAUGE_STEP)
      }
    }
  }
  BACKGAUGE_FOR_ROWS(BACKGAUGE_END)
}

#undef BACKGAUGE_FOR_ROWS
#undef BACKGAUGE_FETCH
#undef BACKGAUGE_BEGIN
#undef BACKGAUGE_STEP
#undef BACKGAUGE_END
#endif

// Calls the tile for a number of rows: at least 1, at most kTileRows.
template <Layout kLayout, class T, class Sums, int kRows = kTileRows>
HWY_INLINE void tile_of(std::int64_t rows, const Operands<T>& x, const T* before, const Sums& sums) {
  if (rows == kRows) {
    if (kVectors<T> == 2 && HWY_UNLIKELY(x.narrow)) {
      tile<kRows, true, kLayout>(x, before, sums);
    } else {
      tile<kRows, false, kLayout>(x, before, sums);
    }
  } else if constexpr (kRows > 1) {
    tile_of<kLayout, T, Sums, kRows - 1>(rows, x, before, sums);
  }
}

// The same for the last part of the depth: the sums are written to `out`.
template <Layout kLayout, class T, class Out>
HWY_INLINE void write_tile(std::int64_t rows, const Operands<T>& x, const T* before, const Out& out) {
  if constexpr (Out::kDirect) {
    tile_of<kLayout>(rows, x, before, out);
  } else {
    for (std::int64_t r = 0; r < rows; ++r) out.fetch(r);
    alignas(64) T sums[kTileRows * kPanel<T>];
    tile_of<kLayout>(rows, x, before, Partial<T>{sums});
    out.write(rows, sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
