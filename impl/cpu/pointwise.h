// SPDX-License-Identifier: Apache-2.0
// What is computed element by element, and sums over columns. Formulas: reference/semantics.md 1.3 and 3.4.
#pragma once

#include <cmath>
#include <cstdint>

#include "impl/cpu/scalar.h"
#include "impl/cpu/threads.h"

// Before a loop whose iterations touch elements of their own only: outputs may be inputs, but at the same index. The
// compilers cannot prove that for the dozen pointers of an LSTM.
#if defined(__clang__)
#define BACKGAUGE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define BACKGAUGE_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace backgauge::cpu {

template <class T>
T sigmoid(T v) {
  return 1 / (1 + std::exp(-v));
}

// Gate values are those after the activation; dcs and dh include what later steps handed back.
template <class T>
struct LstmElement {
  T cs_prev, i, f, o, ci, co, dcs, dh;
};

template <class T>
struct LstmGradient {
  T i, ci, f, o, cs_prev;
};

// The weights are read with peepholes only.
template <bool kPeephole, class T>
inline LstmGradient<T> lstm_backward(const LstmElement<T>& e, const T& wci, const T& wcf, const T& wco) {
  LstmGradient<T> d;
  d.o = e.o * (1 - e.o) * e.dh * e.co;
  T dcs = (1 - e.co * e.co) * e.dh * e.o + e.dcs;
  if constexpr (kPeephole) dcs += d.o * wco;
  d.ci = (1 - e.ci * e.ci) * dcs * e.i;
  d.f = e.f * (1 - e.f) * dcs * e.cs_prev;
  d.i = e.i * (1 - e.i) * dcs * e.ci;
  d.cs_prev = dcs * e.f;
  if constexpr (kPeephole) d.cs_prev += d.i * wci + d.f * wcf;
  return d;
}

// out[k] = in[k], rounded if Out is narrower; each member its part.
template <class Out, class In>
void convert(const Member& member, const In* in, std::int64_t count, Out* out) {
  const Range range = member.share(count);
  for (std::int64_t k = range.begin; k < range.end; ++k) {
    if constexpr (std::is_same_v<Out, Half>) {
      out[k] = Half(in[k]);
    } else {
      out[k] = wide(in[k]);
    }
  }
}

template <class Out>
void fill_zero(const Member& member, std::int64_t count, Out* out) {
  const Range range = member.share(count);
  for (std::int64_t k = range.begin; k < range.end; ++k) out[k] = Out(0.0f);
}

// sums[j] += over all rows of term(row, j), in the order of the rows; each member some of the columns.
template <class T, class Term>
void add_column_sums(const Member& member, std::int64_t rows, std::int64_t columns, T* sums, Term term) {
  constexpr std::int64_t kChunk = 64;  // sums that stay in registers or L1 while the rows go by
  const Range chunks = member.share((columns + kChunk - 1) / kChunk);
  const std::int64_t end = chunks.end * kChunk < columns ? chunks.end * kChunk : columns;
  for (std::int64_t first = chunks.begin * kChunk; first < end; first += kChunk) {
    const std::int64_t count = end - first < kChunk ? end - first : kChunk;
    T local[kChunk];
    for (std::int64_t j = 0; j < count; ++j) local[j] = sums[first + j];
    for (std::int64_t row = 0; row < rows; ++row) {
      BACKGAUGE_INDEPENDENT
      for (std::int64_t j = 0; j < count; ++j) local[j] += term(row, first + j);
    }
    for (std::int64_t j = 0; j < count; ++j) sums[first + j] = local[j];
  }
}

}  // namespace backgauge::cpu
