// SPDX-License-Identifier: Apache-2.0
// The products of a recurrent backward pass in AMX tiles: the serial one of each step, and the two large ones over all
// steps. They read gate gradients in the layout of the vector code, and write to the same outputs.
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_AMX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_AMX_INL_H
#undef BACKGAUGE_CPU_AMX_INL_H
#else
#define BACKGAUGE_CPU_AMX_INL_H
#endif
// clang-format on

#include "impl/cpu/amx/ahead.h"
#include "impl/cpu/amx/multiply.h"
#include "impl/cpu/amx/pieces-inl.h"
#include "impl/cpu/amx/sums-inl.h"
#include "impl/cpu/kernels/gradients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// Which products of a call are made in tiles.
struct AmxUse {
  bool serial = false, inputs = false, weights = false;
  bool any() const { return serial || inputs || weights; }
};

// Only floats are split. Machines with AMX have vectors of at least half a tile.
template <class T>
concept InTiles = std::is_same_v<T, float> && kPanel<float>
% amx::kSide == 0;

// Without tiles: no product uses them, and nothing is done.
template <class T>
class AmxProducts {
 public:
  explicit AmxProducts(auto&&...) {}
  static constexpr AmxUse use() { return {}; }
  static amx::ConfiguredTiles configured() { return amx::ConfiguredTiles(Products::kVectors); }
  static void clear_steps(const Member&) {}
  static void pack_step(std::int64_t, std::int64_t) {}
  static void pack_weights(auto&&...) {}
  static void pack_gradients(const Member&) {}
  static void multiply_step(auto&&...) {}
  static void multiply_weights(auto&&...) {}
  static void multiply_inputs(auto&&...) {}
};

template <InTiles T>
class AmxProducts<T> {
  static constexpr std::int64_t P = kPanel<float>, L = kLanes<float>;
  static constexpr std::int64_t kSide = amx::kSide, kDeep = amx::kDeep, kChunk = amx::kChunk, kSums = amx::kSums;
  static constexpr std::int64_t kBlocksOfPanel = P / kSide;
  // Rows and columns of blocks whose sums stay in L2, and chunks of a piece of the depth. Sums take 512 KiB, a piece of
  // both operands 384 KiB, and so does the next one, which is prefetched: 1.25 of the 2 MiB of L2. Two pairs of blocks
  // in a piece of four chunks just fit into the 48 KiB of L1.
  static constexpr std::int64_t kRowBlocks = 16, kColumnBlocks = 16, kPiece = 4;
  static constexpr std::int64_t kMostTogether = 4 / kBlocksOfPanel;  // panels in one product of a step

 public:
  // weight_gates: gates of the weights, possibly fewer than of the gradients. widest: columns of the widest input.
  AmxProducts(Workspace& workspace, std::int64_t members, const StepPanels<T>& gradients, std::int64_t weight_gates,
              std::int64_t columns, std::int64_t steps, std::int64_t batch, std::int64_t widest)
      : gradients_(gradients),
        use_(use_of(weight_gates * columns, columns, steps * batch, batch, widest)),
        gate_chunks_(cpu::blocks(columns, kDeep)),
        weight_chunks_(weight_gates * gate_chunks_),
        columns_(columns),
        batch_(batch) {
    if (!use_.any()) return;
    for (std::int64_t b = 0; b < gradients.blocks(); ++b) row_chunks_ += cpu::blocks(gradients.rows(b).size, kDeep);
    const std::int64_t state = use_.serial ? panels(columns) * kBlocksOfPanel * weight_chunks_ : 0;
    const std::int64_t inputs = use_.inputs ? gradients.chunks() * kBlocksOfPanel * row_chunks_ : 0;
    const std::int64_t weights = use_.weights ? panels(widest) * kBlocksOfPanel * weight_chunks_ : 0;
    right_ = workspace.take<std::uint16_t>({std::max({state, inputs, weights}), kChunk});
    left_chunks_ = std::max(use_.inputs ? row_chunks_ : 0, use_.weights ? weight_chunks_ : 0);
    left_ = workspace.take<std::uint16_t>({members, kRowBlocks, left_chunks_, kChunk});
    sums_ = workspace.take<float>({members, kRowBlocks, kColumnBlocks, kSums});
    step_blocks_ = use_.serial ? cpu::blocks(batch, kSide) : 0;
    steps_ = workspace.take<std::uint16_t>({2, step_blocks_, weight_chunks_, kChunk});
  }

  const AmxUse& use() const { return use_; }
  // A member keeps the returned object for as long as it computes products.
  amx::ConfiguredTiles configured() const { return amx::ConfiguredTiles(use_.any() ? products() : Products::kVectors); }

  // Packs the member's panels of weights [weight_gates * columns deep, width], for the serial product or that with
  // weights. Element (k, column) of a gate is at(gate)[k * deep_stride + column * column_stride]; one of the strides is
  // 1. No member may still be using the previous contents.
  template <class At>
  void pack_weights(const Member& member, std::int64_t width, std::int64_t deep_stride, std::int64_t column_stride,
                    At at) const {
    const Range own = member.share(panels(width) * kBlocksOfPanel);
    for (std::int64_t block = own.begin; block < own.end; ++block) {
      const std::int64_t live = std::clamp(width - block * kSide, std::int64_t{0}, kSide);
      for (std::int64_t chunk = 0; chunk < weight_chunks_; ++chunk) {
        const std::int64_t k = chunk % gate_chunks_ * kDeep, deep = std::min(kDeep, columns_ - k);
        const auto* from = at(chunk / gate_chunks_) + k * deep_stride;
        if (live > 0) from += block * kSide * column_stride;
        std::uint16_t* to = right(block, weight_chunks_) + chunk * kChunk;
        if (column_stride == 1) {
          split_columns([=](std::int64_t row) HWY_ATTR { return from + row * deep_stride; }, live, deep, to);
        } else {
          split_rows_transposed(from, column_stride, live, deep, to);
        }
      }
    }
  }

  // Clears the member's part of the unused rows and columns of both steps.
  void clear_steps(const Member& member) const {
    const Range own = member.share(2 * step_blocks_ * weight_chunks_);
    std::fill_n(steps_ + own.begin * kChunk, (own.end - own.begin) * kChunk, std::uint16_t{0});
  }

  // Packs a panel of the gradients of step t, once they have been computed. Every step overwrites the last but one.
  void pack_step(std::int64_t t, std::int64_t panel) const {
    const std::int64_t deep = std::min(P, columns_ - panel * P), at = panel * P;
    for (std::int64_t gate = 0; gate * gate_chunks_ < weight_chunks_; ++gate) {
      const float* from = gradients_.step(t) + (gate * gradients_.panels() + panel) * gradients_.chunk_stride();
      for (std::int64_t block = 0; block < step_blocks_; ++block) {
        const std::int64_t first = block * kSide, rows = std::min(kSide, batch_ - first);
        for (std::int64_t lane = 0; lane < P; lane += kDeep) {
          const std::int64_t chunk = gate * gate_chunks_ + (at + lane) / kDeep;
          split_rows(from + first * P + lane, P, rows, deep - lane, std::min(P, kDeep),
                     step(t, block) + chunk * kChunk + (at + lane) % kDeep);
        }
      }
    }
  }

  // Computes the panels [range) of state [batch, columns] = gradients of step t times the weights, or +=. reads(),
  // done() and order as in StateProduct::run.
  template <class Reads, class Done>
  HWY_INLINE void multiply_step(const Member& member, std::int64_t t, const Range& range, bool backwards, float* state,
                                bool add, Reads reads, Done done) const {
    // A second row of blocks reuses the loaded weights; with only one row, four blocks of columns keep four sums in
    // flight.
    const std::int64_t together = step_blocks_ > 1 ? 2 / kBlocksOfPanel : kMostTogether;
    const std::int64_t groups = cpu::blocks(range.end - range.begin, together);
    for (std::int64_t k = 0; k < groups; ++k) {
      const std::int64_t panel = range.begin + (backwards ? groups - 1 - k : k) * together;
      const Range group{panel, std::min(range.end, panel + together)};
      multiply_panels(member, t, group, state, add, reads);
      for (std::int64_t p = group.begin; p < group.end; ++p) done(p);
    }
  }

  // Packs the member's part of the gradients of all gates as right operand. The previous contents must not be in use.
  void pack_gradients(const Member& member) const {
    const Range own = member.share(gradients_.chunks() * kBlocksOfPanel);
    for (std::int64_t column = own.begin; column < own.end; ++column) {
      const std::int64_t panel = column / kBlocksOfPanel, lane = column % kBlocksOfPanel * kSide;
      const std::int64_t live = columns_ - panel % gradients_.panels() * P - lane;
      std::uint16_t* to = right(column, row_chunks_);
      for_row_chunks([&](std::int64_t b, std::int64_t first, std::int64_t deep) HWY_ATTR {
        const float* from = gradients_.at(b, panel) + first * P + lane;
        split_columns([=](std::int64_t row) HWY_ATTR { return from + row * P; },
                      std::clamp(live, std::int64_t{0}, kSide), deep, to);
        to += kChunk;
      });
    }
  }

  // Like multiply_weights() of gradients-inl.h, with the weights packed by pack_weights().
  template <class GetOutput>
  void multiply_weights(const Member& member, std::int64_t first_gate, std::int64_t width, GetOutput output) const {
    for (std::int64_t b = 0; b < gradients_.blocks(); ++b) {
      const Block all = gradients_.rows(b);
      multiply(
          member, all.size, 0, panels(width), weight_chunks_,
          [&](const Block& rows, std::uint16_t* to) HWY_ATTR { pack_rows(b, first_gate, rows, to); },
          [&](std::int64_t row, std::int64_t panel) HWY_ATTR { return output(all.begin + row, panel); });
    }
  }

  // Like multiply_inputs() of gradients-inl.h for all columns of the inputs, after pack_gradients().
  template <class S, class GetOutput>
  void multiply_inputs(const Member& member, std::int64_t width, const Rows<S>& before, const Rows<S>& after,
                       std::int64_t first_gate, std::int64_t chunks, GetOutput output) const {
    multiply(
        member, width, first_gate * gradients_.panels(), chunks, row_chunks_,
        [&](const Block& columns, std::uint16_t* to) HWY_ATTR {
          for_row_chunks([&](std::int64_t b, std::int64_t first, std::int64_t deep) HWY_ATTR {
            const std::int64_t begin = gradients_.rows(b).begin + first;
            split_columns_transposed(
                [&](std::int64_t k) HWY_ATTR {
                  const std::int64_t row = begin + k;
                  return (row < before.count ? before.from + row * before.stride
                                             : after.from + (row - before.count) * after.stride) +
                         columns.begin;
                },
                columns.size, deep, to);
            to += kChunk;
          });
        },
        output);
  }

 private:
  // A few panels of multiply_step(). Meanwhile prefetches reads(panel); prefetching the next weights, too, was slower.
  template <class Reads>
  HWY_INLINE void multiply_panels(const Member& member, std::int64_t t, const Range& range, float* state, bool add,
                                  Reads reads) const {
    float* const sums = sums_of(member);
    PrefetchQueue queue[kMostTogether];
    const std::int64_t asks = amx::kAsks * weight_chunks_ * cpu::blocks(step_blocks_, 2),
                       count = range.end - range.begin;
    for (std::int64_t k = 0; k < count; ++k) {
      queue[k] = reads(range.begin + k);
      queue[k].spread(std::max(asks / count, std::int64_t{1}));
    }
    PrefetchQueue *next_queue = queue, *const queue_end = queue + count;
    for (std::int64_t block = 0; block < step_blocks_; block += 2) {
      while (next_queue != queue_end && next_queue->finished()) ++next_queue;
      const amx::BlockProduct product{step(t, block),
                                      right(range.begin * kBlocksOfPanel, weight_chunks_),
                                      weight_chunks_ * kChunk,
                                      weight_chunks_ * kChunk,
                                      std::min(std::int64_t{2}, step_blocks_ - block),
                                      count * kBlocksOfPanel,
                                      weight_chunks_,
                                      sums,
                                      false,
                                      next_queue,
                                      queue_end};
      amx::multiply(products(), product);
      finish_sums(product);
      for (std::int64_t row = 0; row < product.rows; ++row) {
        const std::int64_t first = (block + row) * kSide;
        for (std::int64_t k = 0; k < count; ++k) {
          write_state(sums + (row * product.columns + k * kBlocksOfPanel) * kSums, std::min(kSide, batch_ - first),
                      state + ((range.begin + k) * batch_ + first) * P, add);
        }
      }
    }
  }

  static std::int64_t panels(std::int64_t columns) { return cpu::blocks(columns, P); }
  std::uint16_t* right(std::int64_t block, std::int64_t chunks) const { return right_ + block * chunks * kChunk; }
  std::uint16_t* step(std::int64_t t, std::int64_t block) const {
    return steps_ + (t % 2 * step_blocks_ + block) * weight_chunks_ * kChunk;
  }
  float* sums_of(const Member& member) const { return sums_ + member.index() * kRowBlocks * kColumnBlocks * kSums; }

  // do_chunk(block of steps, row in it, rows) for each chunk of the depth of all rows.
  template <class Do>
  HWY_INLINE void for_row_chunks(Do do_chunk) const {
    for (std::int64_t b = 0; b < gradients_.blocks(); ++b) {
      const std::int64_t rows = gradients_.rows(b).size;
      for (std::int64_t first = 0; first < rows; first += kDeep) do_chunk(b, first, std::min(kDeep, rows - first));
    }
  }

  // Packs at most kSide rows of the gradients of the gates from `first_gate` on as a block of a left operand.
  void pack_rows(std::int64_t b, std::int64_t first_gate, const Block& rows, std::uint16_t* to) const {
    for (std::int64_t chunk = 0; chunk < weight_chunks_; ++chunk, to += kChunk) {
      const std::int64_t gate = first_gate + chunk / gate_chunks_, column = chunk % gate_chunks_ * kDeep;
      for (std::int64_t at = 0; at < kDeep; at += std::min(P, kDeep)) {
        const std::int64_t panel = (column + at) / P, deep = std::min(P, columns_ - panel * P);
        const std::int64_t known = std::min(panel, gradients_.panels() - 1);  // beyond it nothing is read
        split_rows(gradients_.at(b, gate * gradients_.panels() + known) + rows.begin * P, P, rows.size, deep,
                   std::min(P, kDeep), to + at);
      }
    }
  }

  // Multiplies the member's blocks of `height` rows by `panel_count` panels of the right operand from `first_panel` on.
  //   pack(rows, to)       a block of the left operand
  //   output(row, panel)   panels counted from `first_panel`
  template <class Pack, class GetOutput>
  void multiply(const Member& member, std::int64_t height, std::int64_t first_panel, std::int64_t panel_count,
                std::int64_t chunks, Pack pack, GetOutput output) const {
    std::uint16_t* const left = left_ + member.index() * kRowBlocks * left_chunks_ * kChunk;
    const std::int64_t stride = chunks * kChunk, columns = panel_count * kBlocksOfPanel;
    const Range own = member.share(cpu::blocks(height, kSide));
    const auto rows_of = [=](std::int64_t block) {
      return Block{block * kSide, std::min(kSide, height - block * kSide)};
    };
    for (std::int64_t first = own.begin; first < own.end; first += kRowBlocks) {
      const std::int64_t count = std::min(kRowBlocks, own.end - first);
      for (std::int64_t k = 0; k < count; ++k) pack(rows_of(first + k), left + k * stride);
      for (std::int64_t group = 0; group < columns; group += kColumnBlocks) {
        const std::int64_t end = std::min(columns, group + kColumnBlocks);
        for (std::int64_t chunk = 0; chunk < chunks || chunk == 0; chunk += kPiece) {
          const bool last = chunk + kPiece >= chunks;
          const std::int64_t size = std::min(kPiece, chunks - chunk), next = last ? end : group;
          amx::OperandsAhead ahead(
              left + (last ? 0 : chunk + kPiece) * kChunk, count,
              right(first_panel * kBlocksOfPanel + next, chunks) + (last ? 0 : chunk + kPiece) * kChunk,
              std::min(columns, next + kColumnBlocks) - next, stride,
              std::min(kPiece, last ? chunks : chunks - chunk - kPiece),
              cpu::blocks(count, 2) * cpu::blocks(end - group, 2));
          for_products(member, count, group, end, [&](std::int64_t row, std::int64_t column, float* sums) HWY_ATTR {
            amx::BlockProduct product{left + row * stride,
                                      right(first_panel * kBlocksOfPanel + column, chunks),
                                      stride,
                                      stride,
                                      std::min(std::int64_t{2}, count - row),
                                      std::min(std::int64_t{2}, end - column),
                                      chunks,
                                      sums,
                                      chunk > 0};
            amx::BlockProduct piece = product;
            piece.left += chunk * kChunk;
            piece.right += chunk * kChunk;
            piece.chunks = size;
            PrefetchQueue queue = ahead.take(amx::kAsks * size);
            piece.queue = &queue;
            piece.queue_end = &queue + 1;
            amx::multiply(products(), piece);
            if (!last) return;
            finish_sums(product);
            for (std::int64_t r = 0; r < product.rows; ++r) {
              const Block rows = rows_of(first + row + r);
              for (std::int64_t c = 0; c < product.columns; c += kBlocksOfPanel) {
                write_panel(sums + (r * product.columns + c) * kSums, rows.begin, rows.size,
                            (column + c) / kBlocksOfPanel, output);
              }
            }
          });
        }
      }
    }
  }

  // Calls body(row, column, sums) for each group of two by two blocks.
  template <class Body>
  HWY_INLINE void for_products(const Member& member, std::int64_t rows, std::int64_t begin, std::int64_t end,
                               Body body) const {
    float* sums = sums_of(member);
    for (std::int64_t column = begin; column < end; column += 2) {
      for (std::int64_t row = 0; row < rows; row += 2, sums += 4 * kSums) body(row, column, sums);
    }
  }

  static AmxUse use_of(std::int64_t depth, std::int64_t columns, std::int64_t rows, std::int64_t batch,
                       std::int64_t widest) {
    return {amx::pays(products(), {batch, columns, depth, true}),
            amx::pays(products(), {widest + columns, depth, rows, false}),
            amx::pays(products(), {rows, widest, depth, false})};
  }

  const StepPanels<T>& gradients_;
  AmxUse use_;
  std::int64_t gate_chunks_, weight_chunks_, columns_, batch_;
  std::int64_t row_chunks_ = 0, left_chunks_ = 0, step_blocks_ = 0;
  std::uint16_t *right_ = nullptr, *left_ = nullptr, *steps_ = nullptr;
  float* sums_ = nullptr;
};

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
