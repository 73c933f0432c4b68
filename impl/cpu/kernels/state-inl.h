// SPDX-License-Identifier: Apache-2.0
// The serial product: gradients of the gates of one step times the recurrent weights, which are packed once and read at
// every step. The state is stored in panels [panel][row][column].
#include "impl/cpu/machine/targets.h"
// clang-format off
#if defined(BACKGAUGE_CPU_STATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BACKGAUGE_CPU_STATE_INL_H
#undef BACKGAUGE_CPU_STATE_INL_H
#else
#define BACKGAUGE_CPU_STATE_INL_H
#endif
// clang-format on

#include "impl/cpu/kernels/blocks.h"
#include "impl/cpu/kernels/pack-inl.h"
#include "impl/cpu/kernels/prefetch_queue.h"
#include "impl/cpu/kernels/step_panels.h"
#include "impl/cpu/machine/threads.h"

HWY_BEFORE_NAMESPACE();
namespace backgauge::cpu {
namespace HWY_NAMESPACE {

// [panel][depth][column of the panel]. The depth is a row of gate gradients: gate after gate, `width` each.
template <class T>
struct Weights {
  T* data;
  std::int64_t gates, width;

  std::int64_t depth() const { return gates * width; }
  T* panel(std::int64_t index) const { return data + index * depth() * kPanel<T>; }
  // The weights of a panel from chunk `first` of the gradients on.
  const T* slab(std::int64_t index, std::int64_t first) const {
    const std::int64_t chunks = blocks(width, kPanel<T>);
    return panel(index) + (first / chunks * width + first % chunks * kPanel<T>)*kPanel<T>;
  }
};

// Writes sums of the state, and prefetches other memory meanwhile.
template <class T>
struct StateSums : Partial<T> {
  PrefetchQueue* prefetches;

  HWY_INLINE void chunk() const { prefetches->ask(); }
};

// Depth of a piece of the serial product. The few tiles of a step read a panel of weights from L2 about as fast as from
// L1, and storing sums between pieces costs more: on Zen 5, 1024 instead of 256 gained 1.5 to 2.6 % of the op with
// AVX-512, and 0 to 1 % with AVX2; without pieces, B = 64 lost 1 %.
inline constexpr std::int64_t kDepthOfStep = 1024;

// The panels [range) of state [rows, columns] = gradients w, or += if accumulate.
template <class T>
class StateProduct {
 public:
  // wide: how many panels of the state need both of their vectors; they come first.
  StateProduct(const StepPanels<T>& gates, const Weights<T>& weights, std::int64_t rows, std::int64_t wide)
      : gates_(gates),
        weights_(weights),
        wide_(wide),
        chunks_(weights.gates * gates.panels()),
        rows_(rows),
        tiles_(blocks(rows, kTileRows)),
        rows_of_tile_(rows, tiles_) {
    // With one tile, weights are read once, so there is nothing to keep in the cache.
    pieces_ = tiles_ <= 1 ? 1 : blocks(chunks_, kDepthOfStep / kPanel<T>);
  }

  // Calls done(panel) as soon as a panel is complete. Every other step goes from the last panel to the first, so that
  // it begins with the weights that are still in L2. Meanwhile prefetches reads(panel), the memory that done() will
  // read.
  template <class Reads, class Done>
  HWY_INLINE void run(const T* gradients, const Range& range, bool backwards, T* state, bool accumulate, Reads reads,
                      Done done) const {
    constexpr std::int64_t kGroup = 4;  // panels for which a piece of the gradients stays in L2
    const std::int64_t count = range.end - range.begin;
    for (std::int64_t group = 0; group < count; group += kGroup) {
      const std::int64_t end = std::min(count, group + kGroup);
      PrefetchQueue prefetches[kGroup];
      for (std::int64_t k = group; k < end; ++k) {
        prefetches[k - group] = reads(at(range, backwards, k));
        prefetches[k - group].spread(std::max(chunks_ * tiles_, std::int64_t{1}));
      }
      for (std::int64_t piece = 0; piece < pieces_; ++piece) {
        for (std::int64_t k = group; k < end; ++k) {
          const std::int64_t panel = at(range, backwards, k);
          const T* next = k + 1 < end           ? slab(piece, at(range, backwards, k + 1))
                          : piece + 1 < pieces_ ? slab(piece + 1, at(range, backwards, group))
                          : end < count         ? slab(0, at(range, backwards, end))
                                                : slab(0, at(range, !backwards, 0));
          multiply(gradients, piece, panel, next, state, accumulate || piece > 0, prefetches[k - group]);
        }
      }
      for (std::int64_t k = group; k < end; ++k) done(at(range, backwards, k));
    }
  }

 private:
  static std::int64_t at(const Range& range, bool backwards, std::int64_t k) {
    return backwards ? range.end - 1 - k : range.begin + k;
  }
  const T* slab(std::int64_t piece, std::int64_t panel) const {
    const Block chunks = block(chunks_, pieces_, piece);
    return weights_.slab(panel, chunks.begin);
  }

  HWY_INLINE void multiply(const T* gradients, std::int64_t piece, std::int64_t panel, const T* next, T* state,
                           bool accumulate, PrefetchQueue& prefetches) const {
    constexpr std::int64_t P = kPanel<T>;
    constexpr std::int64_t kLine = 64 / sizeof(T), kChunkLines = P * P / kLine;
    const Block chunks = block(chunks_, pieces_, piece);
    const std::int64_t lines = tiles_ <= 1 ? 0 : blocks(kChunkLines, tiles_);
    Operands<T> x{};
    x.a_chunk = gates_.chunk_stride();
    x.b = slab(piece, panel);
    x.depth = {chunks.begin, chunks.end(), gates_.panels(), gates_.tail()};
    x.ahead_lines = lines;
    x.narrow = panel >= wide_;
    for (std::int64_t k = 0; k < tiles_; ++k) {
      const Block rows = rows_of_tile_[k];
      x.a = gradients + chunks.begin * gates_.chunk_stride() + rows.begin * P;
      x.ahead = next + k * chunks.size * lines * kLine;
      T* sums = state + (panel * rows_ + rows.begin) * P;
      tile_of<Layout::kAcross>(rows.size, x, accumulate ? sums : nullptr, StateSums<T>{{sums}, &prefetches});
    }
  }

  const StepPanels<T>& gates_;
  Weights<T> weights_;
  std::int64_t wide_, chunks_, rows_, tiles_, pieces_;
  Blocks rows_of_tile_;
};

}  // namespace HWY_NAMESPACE
}  // namespace backgauge::cpu
HWY_AFTER_NAMESPACE();

#endif
