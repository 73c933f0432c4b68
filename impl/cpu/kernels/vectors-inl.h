// SPDX-License-Identifier: Apache-2.0
// Vectors of the compute type: sizes that the layouts depend on, and loads and stores of storage types. Functions for a
// part access `count` elements of memory and nothing beyond; the remaining lanes are 0.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_VECTORS_INL_H
#undef BACKGAUGE_CPU_VECTORS_INL_H
#else
#define BACKGAUGE_CPU_VECTORS_INL_H
#endif
// clang-format on

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "impl/cpu/kernels/scalar.h"
#include "impl/cpu/machine/threads.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

template <class T>
inline constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(Tag<T>()));

#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr std::int64_t kPanel = 64 / sizeof(T);  // the vectors that compilers generate themselves
inline constexpr int kTileRows = 4;
#else
// Columns of a panel: two vectors.
template <class T>
inline constexpr std::int64_t kPanel = 2 * kLanes<T>;
// Rows of a tile. Two sums per row, two vectors of the panel and a broadcast use all 16 registers, or 31 of 32.
inline constexpr int kTileRows = HWY_TARGET == HWY_AVX2 ? 6 : 14;
#endif
template <class T>
inline constexpr std::int64_t kVectors = kPanel<T> / kLanes<T>;

template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Half* from) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, wide(*from));
#else
  const hn::Rebind<hwy::float16_t, D> halves;
  return hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
#endif
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Bfloat16* from) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, wide(*from));
#else
  const hn::RebindToUnsigned<D> words;
  const hn::Rebind<std::uint16_t, D> stored;
  const auto bits = hn::LoadU(stored, reinterpret_cast<const std::uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, bits)));
#endif
}

template <class D, class T>
HWY_INLINE void store(D d, hn::Vec<D> value, T* to) {
  hn::StoreU(value, d, to);
}

template <class D>
HWY_INLINE void store(D, hn::Vec<D> value, Half* to) {
#if HWY_TARGET == HWY_SCALAR
  *to = Half(hn::GetLane(value));
#else
  const hn::Rebind<hwy::float16_t, D> halves;
  hn::StoreU(hn::DemoteTo(halves, value), halves, reinterpret_cast<hwy::float16_t*>(to));
#endif
}

// Like backgauge_float_to_bfloat16. The processor's instructions flush subnormal numbers, and Highway 1.0 truncates.
template <class D>
HWY_INLINE void store([[maybe_unused]] D d, hn::Vec<D> value, Bfloat16* to) {
#if HWY_TARGET == HWY_SCALAR
  *to = Bfloat16(hn::GetLane(value));
#else
  const hn::RebindToUnsigned<D> words;
  const hn::RebindToSigned<D> numbers;
  const hn::Rebind<std::uint16_t, D> stored;
  const auto bits = hn::BitCast(words, value), upper = hn::ShiftRight<16>(bits);
  const auto to_nearest = hn::Add(hn::Set(words, 0x7fff), hn::And(upper, hn::Set(words, 1)));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, to_nearest));
  const auto is_nan = hn::Ne(value, value);
  const auto result = hn::IfThenElse(hn::RebindMask(words, is_nan), hn::Or(upper, hn::Set(words, 0x40)), rounded);
  hn::StoreU(hn::DemoteTo(stored, hn::BitCast(numbers, result)), stored, reinterpret_cast<std::uint16_t*>(to));
#endif
}

template <class D, class S>
HWY_INLINE hn::Vec<D> load_part(D d, const S* from, std::int64_t count) {
  using T = hn::TFromD<D>;
  if constexpr (std::is_same_v<S, T> && HWY_TARGET <= HWY_AVX2) {  // these masked loads never access masked memory
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
  } else {
    HWY_ALIGN S part[hn::MaxLanes(D())] = {};
    for (std::int64_t k = 0; k < count; ++k) part[k] = from[k];
    return load(d, part);
  }
}

template <class D, class S>
HWY_INLINE void store_part(D d, hn::Vec<D> value, S* to, std::int64_t count) {
  HWY_ALIGN S part[hn::MaxLanes(D())];
  store(d, value, part);
  for (std::int64_t k = 0; k < count; ++k) to[k] = part[k];
}

// Accesses full vectors if all lanes are used.
template <bool kPart, class D, class S>
HWY_INLINE hn::Vec<D> load_live(D d, const S* from, std::int64_t live) {
  if constexpr (kPart) {
    return load_part(d, from, live);
  } else {
    return load(d, from);
  }
}
template <bool kPart, class D, class S>
HWY_INLINE void store_live(D d, hn::Vec<D> value, S* to, std::int64_t live) {
  if constexpr (kPart) {
    store_part(d, value, to, live);
  } else {
    store(d, value, to);
  }
}

// to[k] = from[k], rounded if To is narrower.
template <class From, class To>
HWY_INLINE void convert(const From* from, std::int64_t count, To* to) {
  using T = Compute<From>;
  const Tag<T> d;
  const std::int64_t whole = count / kLanes<T> * kLanes<T>;
  for (std::int64_t k = 0; k < whole; k += kLanes<T>) store(d, load(d, from + k), to + k);
  for (std::int64_t k = whole; k < count; ++k) to[k] = To(wide(from[k]));
}

// A member's part of an array.
template <class From, class To>
void convert(const Member& member, const From* from, std::int64_t count, To* to) {
  const Range own = member.share(count);
  convert(from + own.begin, own.end - own.begin, to + own.begin);
}

template <class To>
void fill_zero(const Member& member, std::int64_t count, To* to) {
  const Range own = member.share(count);
  std::fill_n(to + own.begin, own.end - own.begin, To(0.0f));
}

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
