// SPDX-License-Identifier: Apache-2.0
// The loops that find the limits of a CPU, in the widest vectors it has. They do nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backgauge {

// `steps` rounds of independent multiply-adds in registers. Returns the number of flops.
double fma_loop_f32(std::int64_t steps);
double fma_loop_f64(std::int64_t steps);

// `bytes` is a multiple of kProbeGrain, the addresses are multiples of 64.
inline constexpr std::size_t kProbeGrain = 1024;
void read_loop(const std::byte* from, std::size_t bytes);
void copy_loop(const std::byte* from, std::byte* to, std::size_t bytes);
// With non-temporal stores if the CPU has them; otherwise the same as copy_loop.
void stream_loop(const std::byte* from, std::byte* to, std::size_t bytes);

}  // namespace backgauge
