// SPDX-License-Identifier: Apache-2.0
// Times of tiles on this machine, for impl/cpu/amx/amx.md. TDPBF16PS: one product of tiles.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "impl/cpu/amx/multiply.h"
#include "impl/cpu/kernels/prefetch_queue.h"
#include "impl/cpu/machine/amx_missing.h"

namespace backgauge::cpu::amx {
namespace {

constexpr std::int64_t kBytes = kTile * 2;  // of a tile

#define BACKGAUGE_DOTS                     \
  asm volatile(                            \
      "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n" \
      "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n" \
      "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n" \
      "tdpbf16ps %%tmm7, %%tmm5, %%tmm3\n" ::)
#define BACKGAUGE_LOADS(from)                          \
  asm volatile(                                        \
      "tileloadd (%0,%1,1), %%tmm4\n"                  \
      "tileloadd 1024(%0,%1,1), %%tmm5\n"              \
      "tileloadd 2048(%0,%1,1), %%tmm6\n"              \
      "tileloadd 3072(%0,%1,1), %%tmm7\n" ::"r"(from), \
      "r"(64L)                                         \
      : "memory")

// Values of [1, 2), with some sign: zeros are faster. Aligned as the memory of a call is; a load of a tile that is not
// takes seven times as long.
class Values {
 public:
  explicit Values(std::int64_t count) : memory_(static_cast<std::size_t>(count + kLine)) {
    std::uint32_t random = 1;
    for (std::uint16_t& value : memory_) {
      random = random * 1664525 + 1013904223;
      value = static_cast<std::uint16_t>(0x3f80u | (random >> 16 & 0x807fu));
    }
  }
  const std::uint16_t* data() const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (PrefetchQueue::kLine - address % PrefetchQueue::kLine) / sizeof(std::uint16_t);
  }

 private:
  static constexpr std::int64_t kLine = PrefetchQueue::kLine / sizeof(std::uint16_t);
  std::vector<std::uint16_t> memory_;
};

void report(benchmark::State& state, const char* name, double each) {
  state.counters[name] = benchmark::Counter(static_cast<double>(state.iterations()) * each,
                                            benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Four products; with loads, their four operands are loaded from L1 before them.
void products_of_tiles(benchmark::State& state) {
  const ConfiguredTiles tiles(Products::kAmx);
  const Values memory(4 * kTile);
  BACKGAUGE_LOADS(memory.data());
  asm volatile("tilezero %%tmm0\ntilezero %%tmm1\ntilezero %%tmm2\ntilezero %%tmm3" ::);
  for (auto _ : state) {
    if (state.range(0) != 0) BACKGAUGE_LOADS(memory.data());
    BACKGAUGE_DOTS;
  }
  report(state, "TDPBF16PS", 4);
}

// So many KiB again and again.
void loads_of_tiles(benchmark::State& state) {
  const ConfiguredTiles tiles(Products::kAmx);
  const std::int64_t bytes = state.range(0) << 10;
  const Values memory(bytes / 2);
  const char* const from = reinterpret_cast<const char*>(memory.data());
  for (auto _ : state) {
    for (std::int64_t at = 0; at < bytes; at += 4 * kBytes) BACKGAUGE_LOADS(from + at);
  }
  report(state, "load", static_cast<double>(bytes / kBytes));
}

// Two rows of blocks of so many chunks times so many columns, two at a time.
void products_of_blocks(benchmark::State& state) {
  const ConfiguredTiles tiles(Products::kAmx);
  const std::int64_t chunks = state.range(0), columns = state.range(1);
  const Values left(2 * chunks * kChunk), right(columns * chunks * kChunk);
  alignas(PrefetchQueue::kLine) static float sums[4 * kSums];
  for (auto _ : state) {
    for (std::int64_t column = 0; column < columns; column += 2) {
      multiply(Products::kAmx, {left.data(), right.data() + column * chunks * kChunk, chunks * kChunk, chunks * kChunk,
                                2, 2, chunks, sums, false});
    }
  }
  report(state, "TDPBF16PS", static_cast<double>(columns / 2 * chunks * 24));
}

BENCHMARK(products_of_tiles)->ArgName("loads")->Arg(0)->Arg(1);
BENCHMARK(loads_of_tiles)->ArgName("KiB")->Arg(16)->Arg(1024)->Arg(16384);
BENCHMARK(products_of_blocks)->ArgNames({"chunks", "columns"})->Args({4, 2})->Args({16, 8})->Args({64, 32});

}  // namespace
}  // namespace backgauge::cpu::amx

int main(int count, char** arguments) {
  const std::string lacks(backgauge::cpu::amx_missing());
  if (!lacks.empty()) {
    std::printf("amx_benchmark: SKIPPED: %s\n", lacks.c_str());
    return 0;
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
