// SPDX-License-Identifier: Apache-2.0
// The order of loads and products of a BlockProduct, shared by AMX and its emulation:
//   Tiles::load<tile>(bfloat16*)  Tiles::load_sums<tile>(float*)  Tiles::store_sums<tile>(float*)  Tiles::zero<tile>()
//   Tiles::dot<sums, left, right>()
#pragma once

#include <utility>

#include "impl/cpu/amx/block_product.h"

namespace backgauge::cpu::amx {

// Calls body(0) .. body(kCount - 1), each with its number as a compile-time constant.
template <int kCount, class Body>
inline void each(Body body) {
  [&]<int... k>(std::integer_sequence<int, k...>) { (body(std::integral_constant<int, k>()), ...); }
  (std::make_integer_sequence<int, kCount>());
}

// Tiles 0 to 3 are sums, then come left and right operands. The main products and the rest are summed one after the
// other, each with all four sums, which hide the latency between two products of the same sum.
template <class Tiles, int kRows, int kColumns>
class BlockKernel {
  static_assert(kRows * kColumns <= 4 && kRows <= 2);
  static constexpr int kLeft = 4, kRight = kLeft + kRows, kRights = 8 - kRight;

 public:
  static void run(const BlockProduct& p) {
    Tiles tiles;
    sum(tiles, p, 0, [&](std::int64_t chunk) {
      load_left(tiles, p, chunk, 0);
      add_right<0>(tiles, p, chunk);
    });
    PrefetchQueue* queue = p.queue;
    const auto ask = [&] {
      if (queue != p.queue_end && queue->finished()) ++queue;
      if (queue != p.queue_end) queue->ask<PrefetchQueue::kIntoL2>();
    };
    sum(tiles, p, kSide * kSide, [&](std::int64_t chunk) {
      if constexpr (kRows == 1) {
        add_rest_of_row(tiles, p, chunk, ask);
      } else {
        add_rest(tiles, p, chunk, ask);
      }
    });
  }

 private:
  static const std::uint16_t* left(const BlockProduct& p, std::int64_t row, std::int64_t chunk, std::int64_t piece) {
    return p.left + row * p.left_stride + chunk * kChunk + piece * kTile;
  }
  static const std::uint16_t* right(const BlockProduct& p, std::int64_t column, std::int64_t chunk,
                                    std::int64_t piece) {
    return p.right + column * p.right_stride + chunk * kChunk + piece * kTile;
  }

  template <class Add>
  static void sum(Tiles& tiles, const BlockProduct& p, std::int64_t which, Add add) {
    float* const sums = p.sums + which;
    each<kRows * kColumns>([&](auto k) {
      if (p.add) {
        tiles.template load_sums<k>(sums + k * kSums);
      } else {
        tiles.template zero<k>();
      }
    });
    for (std::int64_t chunk = 0; chunk < p.chunks; ++chunk) add(chunk);
    each<kRows * kColumns>([&](auto k) { tiles.template store_sums<k>(sums + k * kSums); });
  }

  static void load_left(Tiles& tiles, const BlockProduct& p, std::int64_t chunk, std::int64_t piece) {
    each<kRows>([&](auto r) { tiles.template load<kLeft + r>(left(p, r, chunk, piece)); });
  }
  // Loads a piece of the right operand, and adds its products with the loaded pieces of the left one.
  template <int kPiece>
  static void add_right(Tiles& tiles, const BlockProduct& p, std::int64_t chunk) {
    each<kColumns>([&](auto c) {
      constexpr int at = kRight + c % kRights;
      tiles.template load<at>(right(p, c, chunk, kPiece));
      each<kRows>([&](auto r) { tiles.template dot<r * kColumns + c, kLeft + r, at>(); });
    });
  }
  // Loads a piece of the left operand, and adds its products with the loaded pieces of the right one.
  template <int kPiece>
  static void add_left(Tiles& tiles, const BlockProduct& p, std::int64_t chunk) {
    static_assert(kColumns <= kRights);
    each<kRows>([&](auto r) {
      tiles.template load<kLeft + r>(left(p, r, chunk, kPiece));
      each<kColumns>([&](auto c) { tiles.template dot<r * kColumns + c, kLeft + r, kRight + c>(); });
    });
  }

  // Pieces (left, right) 0 2, 0 1, 1 1, 1 0, 2 0: only one side changes from each to the next. ask() is called kAsks
  // times, each time after a pair of pieces.
  template <class Ask>
  static void add_rest(Tiles& tiles, const BlockProduct& p, std::int64_t chunk, Ask ask) {
    load_left(tiles, p, chunk, 0);
    add_right<2>(tiles, p, chunk);
    ask();
    add_right<1>(tiles, p, chunk);
    ask();
    add_left<1>(tiles, p, chunk);
    ask();
    add_right<0>(tiles, p, chunk);
    ask();
    add_left<2>(tiles, p, chunk);
    ask();
  }
  // Like add_rest(), with all pieces of one row of blocks in tiles 4 to 6.
  template <class Ask>
  static void add_rest_of_row(Tiles& tiles, const BlockProduct& p, std::int64_t chunk, Ask ask) {
    each<3>([&](auto piece) { tiles.template load<kLeft + piece>(left(p, 0, chunk, piece)); });
    const auto add = [&](auto piece, auto... lefts) {
      each<kColumns>([&](auto c) {
        tiles.template load<7>(right(p, c, chunk, piece));
        (tiles.template dot<c, kLeft + lefts, 7>(), ...);
      });
      ((static_cast<void>(lefts), ask()), ...);
    };
    constexpr std::integral_constant<int, 0> high;
    constexpr std::integral_constant<int, 1> middle;
    constexpr std::integral_constant<int, 2> low;
    add(low, high);
    add(middle, high, middle);
    add(high, middle, low);
  }
};

template <class Tiles>
void multiply_blocks(const BlockProduct& p) {
  if (p.rows == 2) {
    return p.columns == 2 ? BlockKernel<Tiles, 2, 2>::run(p) : BlockKernel<Tiles, 2, 1>::run(p);
  }
  switch (p.columns) {
    case 1: return BlockKernel<Tiles, 1, 1>::run(p);
    case 2: return BlockKernel<Tiles, 1, 2>::run(p);
    case 3: return BlockKernel<Tiles, 1, 3>::run(p);
    default: return BlockKernel<Tiles, 1, 4>::run(p);
  }
}

// Without AMX. Only for BACKGAUGE_CPU=amx-emulated, never chosen automatically.
void multiply_emulated(const BlockProduct& product);

}  // namespace backgauge::cpu::amx
