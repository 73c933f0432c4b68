// SPDX-License-Identifier: Apache-2.0
// Operands of products in AMX tiles: floats split into three bfloat16 whose sum they are, packed as block_product.h
// says.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_PIECES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_PIECES_INL_H
#undef BACKGAUGE_CPU_PIECES_INL_H
#else
#define BACKGAUGE_CPU_PIECES_INL_H
#endif
// clang-format on

#include <algorithm>

#include "impl/cpu/amx/block_product.h"
#include "impl/cpu/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

using FloatTag = Tag<float>;
using BitsTag = hn::RebindToSigned<FloatTag>;
using Bits = hn::Vec<BitsTag>;

// Stored as floats whose lower 16 bits are 0.
struct Pieces {
  Vector<float> high, middle, low;
};

// Rounds to the nearest bfloat16, ties to even. For finite values far from overflow.
HWY_INLINE Vector<float> nearest_bfloat16(Vector<float> value) {
  const FloatTag d;
  const BitsTag i;
  const Bits bits = hn::BitCast(i, value), odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(i, 1));
  const Bits rounded = hn::Add(bits, hn::Add(odd, hn::Set(i, 0x7fff)));
  return hn::BitCast(d, hn::And(rounded, hn::Set(i, ~0xffff)));
}

// Exact for magnitudes from 2^-126 on, up to what a lower piece loses below that, less than 2^-133. Smaller values that
// are not 0 keep only their sign. For infinities and NaNs, the highest piece is the value, and the others are 0.
HWY_INLINE Pieces split(Vector<float> value) {
  constexpr std::int32_t kInfinity = 0x7f800000, kLeastNormal = 0x00800000;
  constexpr std::int32_t kRoundsToInfinity = 0x7f7f8000;  // from here on values are truncated
  const FloatTag d;
  const BitsTag i;
  const Bits bits = hn::BitCast(i, value), size = hn::And(bits, hn::Set(i, 0x7fffffff));
  const Bits cut = hn::And(bits, hn::Set(i, ~0xffff));
  Bits high = hn::IfThenElse(hn::Lt(size, hn::Set(i, kRoundsToInfinity)), hn::BitCast(i, nearest_bfloat16(value)), cut);
  high = hn::Or(high, hn::IfThenElseZero(hn::Gt(size, hn::Set(i, kInfinity)), hn::Set(i, 0x00400000)));  // a quiet NaN
  const auto normal = hn::Gt(size, hn::Set(i, kLeastNormal - 1));
  const auto tiny = hn::AndNot(normal, hn::Gt(size, hn::Zero(i)));
  high = hn::Or(high, hn::IfThenElseZero(tiny, hn::Set(i, 0x00010000)));
  const auto has_rest = hn::And(normal, hn::Lt(size, hn::Set(i, kInfinity)));
  const Vector<float> first = hn::BitCast(d, high);
  const Vector<float> rest = hn::IfThenElseZero(hn::RebindMask(d, has_rest), hn::Sub(value, first));
  const Vector<float> middle = nearest_bfloat16(rest);
  return {first, middle, hn::Sub(rest, middle)};
}

HWY_INLINE void store_bfloat16(Vector<float> piece, std::uint16_t* to) {
  const BitsTag i;
  const hn::Rebind<std::int16_t, BitsTag> narrow;
  const auto upper = hn::DemoteTo(narrow, hn::ShiftRight<16>(hn::BitCast(i, piece)));
  hn::StoreU(upper, narrow, reinterpret_cast<std::int16_t*>(to));
}

HWY_INLINE void store_pieces(const Pieces& pieces, std::uint16_t* to) {
  store_bfloat16(pieces.high, to);
  store_bfloat16(pieces.middle, to + amx::kTile);
  store_bfloat16(pieces.low, to + 2 * amx::kTile);
}

// Stores pairs of elements of two rows, the even row in the lower half.
HWY_INLINE void store_pairs(Vector<float> even, Vector<float> odd, std::uint16_t* to) {
#if HWY_TARGET == HWY_SCALAR
  store_bfloat16(even, to);
  store_bfloat16(odd, to + 1);
#else
  const hn::RebindToUnsigned<FloatTag> u;
  const auto lower = hn::ShiftRight<16>(hn::BitCast(u, even));
  const auto upper = hn::And(hn::BitCast(u, odd), hn::Set(u, 0xffff0000));
  hn::StoreU(hn::Or(lower, upper), u, reinterpret_cast<std::uint32_t*>(to));
#endif
}

template <class S>
HWY_INLINE Vector<float> load_some(const S* from, std::int64_t live) {
  const FloatTag d;
  constexpr std::int64_t L = kLanes<float>;
  if (HWY_LIKELY(live >= L)) return load(d, from);
  return live <= 0 ? hn::Zero(d) : load_part(d, from, live);
}

// Packs a chunk [3][16][32 deep]: `width` rows from `from` on, `stride` apart, with the depth along the rows. Writes
// `count` elements of each row, of which `deep` are live.
template <class S>
void split_rows(const S* from, std::int64_t stride, std::int64_t width, std::int64_t deep, std::int64_t count,
                std::uint16_t* to) {
  for (std::int64_t r = 0; r < amx::kSide; ++r, to += amx::kDeep) {
    for (std::int64_t lane = 0; lane < count; lane += kLanes<float>) {
      const std::int64_t live = r < width ? deep - lane : 0;
      store_pieces(split(load_some(live > 0 ? from + r * stride + lane : from, live)), to + lane);
    }
  }
}

// Packs a chunk [3][16 pairs][16][2] of `width` columns, with the depth from row(0) to row(deep - 1).
template <class Row>
HWY_INLINE void split_columns(Row row, std::int64_t width, std::int64_t deep, std::uint16_t* to) {
  constexpr std::int64_t L = kLanes<float>;
  for (std::int64_t k = 0; k < amx::kDeep; k += 2) {
    for (std::int64_t lane = 0; lane < amx::kSide; lane += L, to += 2 * L) {
      const auto get = [=](std::int64_t at) HWY_ATTR {
        return at < deep && lane < width ? split(load_some(row(at) + lane, width - lane))
                                         : Pieces{hn::Zero(FloatTag()), hn::Zero(FloatTag()), hn::Zero(FloatTag())};
      };
      const Pieces even = get(k), odd = get(k + 1);
      store_pairs(even.high, odd.high, to);
      store_pairs(even.middle, odd.middle, to + amx::kTile);
      store_pairs(even.low, odd.low, to + 2 * amx::kTile);
    }
  }
}

// Transposes four by four pairs of 16 x 16.
HWY_INLINE void transpose_pairs(const std::uint16_t* from, std::uint16_t* to) {
  constexpr std::int64_t kRow = amx::kDeep;
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t r = 0; r < 4; ++r) {
    for (std::int64_t k = 0; k < 4; ++k) std::copy_n(from + r * kRow + 2 * k, 2, to + k * kRow + 2 * r);
  }
#else
  const hn::FixedTag<std::uint32_t, 4> d;
  const hn::Repartition<std::uint64_t, decltype(d)> wide;
  const auto row = [=](std::int64_t r)
                       HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(from + r * kRow)); };
  const auto put = [=](std::int64_t r, auto value) HWY_ATTR {
    hn::StoreU(hn::BitCast(d, value), d, reinterpret_cast<std::uint32_t*>(to + r * kRow));
  };
  const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
  put(0, hn::InterleaveLower(wide, low01, low23));
  put(1, hn::InterleaveUpper(wide, low01, low23));
  put(2, hn::InterleaveLower(wide, high01, high23));
  put(3, hn::InterleaveUpper(wide, high01, high23));
#endif
}

// Converts a chunk of a left operand to one of a right operand, or back.
inline void transpose_chunk(const std::uint16_t* from, std::uint16_t* to) {
  constexpr std::int64_t kRow = amx::kDeep;
  for (std::int64_t piece = 0; piece < 3; ++piece, from += amx::kTile, to += amx::kTile) {
    for (std::int64_t r = 0; r < amx::kSide; r += 4) {
      for (std::int64_t k = 0; k < amx::kSide; k += 4) transpose_pairs(from + r * kRow + 2 * k, to + k * kRow + 2 * r);
    }
  }
}

// Packs the same chunks with rows and columns exchanged.
template <class Row>
HWY_INLINE void split_columns_transposed(Row row, std::int64_t width, std::int64_t deep, std::uint16_t* to) {
  alignas(64) std::uint16_t chunk[amx::kChunk];
  split_columns(row, width, deep, chunk);
  transpose_chunk(chunk, to);
}
template <class S>
void split_rows_transposed(const S* from, std::int64_t stride, std::int64_t width, std::int64_t deep,
                           std::uint16_t* to) {
  alignas(64) std::uint16_t chunk[amx::kChunk];
  split_rows(from, stride, width, deep, amx::kDeep, chunk);
  transpose_chunk(chunk, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
