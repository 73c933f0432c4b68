// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/amx/multiply.h"

#include <algorithm>
#include <bit>

#include "impl/cpu/amx/kernel.h"
#include "impl/cpu/kernels/blocks.h"

namespace backgauge::cpu::amx {
namespace {

#if defined(BACKGAUGE_WITH_AMX)
// The instructions in assembly: compiler intrinsics take tiles as literals, not as template constants, and gcc's do not
// declare that they read memory.
struct MachineTiles {
  static constexpr long kRow = 64;  // bytes

  using Memory = char[kSide * kRow];

  template <int kTile>
  static void load(const void* from) {
    asm volatile("tileloadd (%[from],%[row],1), %%tmm%c[tile]"
                 :
                 : [tile] "i"(kTile), [from] "r"(from), [row] "r"(kRow), "m"(*static_cast<const Memory*>(from)));
  }
  template <int kTile>
  static void load_sums(const float* from) {
    load<kTile>(from);
  }
  template <int kTile>
  static void store_sums(float* to) {
    asm volatile("tilestored %%tmm%c[tile], (%[to],%[row],1)"
                 : "=m"(*reinterpret_cast<Memory*>(to))
                 : [tile] "i"(kTile), [to] "r"(to), [row] "r"(kRow));
  }
  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c[tile]" : : [tile] "i"(kTile));
  }
  template <int kSumsTile, int kLeft, int kRight>
  static void dot() {
    asm volatile("tdpbf16ps %%tmm%c[right], %%tmm%c[left], %%tmm%c[sums]"
                 :
                 : [sums] "i"(kSumsTile), [left] "i"(kLeft), [right] "i"(kRight));
  }
};

// Eight tiles of sixteen rows of 64 bytes.
struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(Configuration) == 64);

void multiply_on_amx(const BlockProduct& product) { multiply_blocks<MachineTiles>(product); }
void configure() {
  static constexpr Configuration kConfiguration;
  asm volatile("ldtilecfg %0" : : "m"(kConfiguration));
}
void release() { asm volatile("tilerelease"); }
#else
void multiply_on_amx(const BlockProduct&) {}
void configure() {}
void release() {}
#endif

float value_of(const std::uint16_t* tile, std::int64_t k) {
  const auto piece = [=](std::int64_t which) {
    return std::bit_cast<float>(std::uint32_t{tile[which * kTile + k]} << 16);
  };
  return piece(0) + (piece(1) + piece(2));
}

}  // namespace

void multiply(Products products, const BlockProduct& product) {
  if (on_amx(products)) {
    multiply_on_amx(product);
  } else {
    multiply_emulated(product);
  }
}

void multiply_plainly(const std::uint16_t* left, const std::uint16_t* right, std::int64_t chunks, float* sum) {
  std::fill_n(sum, kSide * kSide, 0.0f);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk, left += kChunk, right += kChunk) {
    for (std::int64_t k = 0; k < kDeep; ++k) {
      float row[kSide];
      for (std::int64_t c = 0; c < kSide; ++c) row[c] = value_of(right, (k / 2 * kSide + c) * 2 + k % 2);
      for (std::int64_t r = 0; r < kSide; ++r) {
        const float value = value_of(left, r * kDeep + k);
        for (std::int64_t c = 0; c < kSide; ++c) sum[r * kSide + c] += value * row[c];
      }
    }
  }
}

ConfiguredTiles::ConfiguredTiles(Products products) : configured_(on_amx(products)) {
  if (configured_) configure();
}
ConfiguredTiles::~ConfiguredTiles() {
  if (configured_) release();
}

bool pays(Products products, const ProductSize& size) {
  if (products == Products::kVectors) return false;
  // Single rows use vectors, so that both kinds of products in one call are judged.
  if (products != Products::kAmx) return size.rows > 1;
  // In cycles. Set on an Intel Xeon with 2 MiB of L2 at some 3.75 GHz from times of whole calls (amx.md): multiply-adds
  // per cycle of products in tiles and in vectors; bytes per cycle from L2, of which half may hold weights, and from
  // L3; cycles to split an element of an operand, and to add and write a result.
  constexpr double kTiles = 36, kStreamedTiles = 25, kVectors = 22, kFromL2 = 47, kFromL3 = 8, kSplit = 3, kWrite = 0.7;
  const double rows = static_cast<double>(size.rows), columns = static_cast<double>(size.columns),
               depth = static_cast<double>(size.depth), weights = depth * columns;
  const double padded = static_cast<double>(blocks(size.rows, kSide) * blocks(size.columns, kSide) *
                                            blocks(size.depth, kDeep) * kSide * kSide * kDeep);
  const double on_vectors = rows * weights / kVectors;
  if (size.streamed) {
    const auto stream = [=](double bytes) { return bytes / (bytes <= 0x1p20 ? kFromL2 : kFromL3); };
    return std::max(padded / kStreamedTiles, stream(6 * weights)) < std::max(on_vectors, stream(4 * weights));
  }
  return padded / kTiles + kSplit * (rows * depth + weights) + kWrite * rows * columns < on_vectors;
}

}  // namespace backgauge::cpu::amx
