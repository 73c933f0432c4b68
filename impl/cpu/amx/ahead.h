// SPDX-License-Identifier: Apache-2.0
// Prefetching for the next piece of the depth while the products of this one are computed.
#pragma once

#include <cstdint>

#include "impl/cpu/amx/block_product.h"
#include "impl/cpu/kernels/prefetch_queue.h"

namespace backgauge::cpu::amx {

// Shares the cache lines of the next piece of both operands evenly among the products of the current one.
class OperandsAhead {
 public:
  // `rows` and `columns` blocks, `stride` elements apart, with `chunks` chunks each; products: of the current piece.
  OperandsAhead(const std::uint16_t* left, std::int64_t rows, const std::uint16_t* right, std::int64_t columns,
                std::int64_t stride, std::int64_t chunks, std::int64_t products)
      : left_(left),
        right_(right),
        rows_(rows),
        stride_(stride),
        lines_of_block_(chunks * (kChunk / kLine)),
        lines_((rows + columns) * lines_of_block_),
        products_(products) {}

  // The share of the next product; `asks` calls of ask() suffice.
  PrefetchQueue take(std::int64_t asks) {
    const std::int64_t begin = lines_ * taken_ / products_, end = lines_ * (taken_ + 1) / products_;
    ++taken_;
    PrefetchQueue queue(end - begin, PrefetchQueue::kLine);
    if (begin == end) return queue;
    const std::int64_t block = begin / lines_of_block_, line = begin % lines_of_block_;
    queue.add((block < rows_ ? left_ + block * stride_ : right_ + (block - rows_) * stride_) + line * kLine, kLine);
    queue.spread(asks);
    return queue;
  }

 private:
  static constexpr std::int64_t kLine = PrefetchQueue::kLine / sizeof(std::uint16_t);  // elements
  const std::uint16_t *left_, *right_;
  std::int64_t rows_, stride_, lines_of_block_, lines_, products_, taken_ = 0;
};

}  // namespace backgauge::cpu::amx
