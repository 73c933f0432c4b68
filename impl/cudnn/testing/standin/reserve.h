// SPDX-License-Identifier: Apache-2.0
// What the stand-in keeps in reserve_space and in the memory of dropout states.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>

#include "impl/cudnn/testing/standin/network.h"
#include "impl/cudnn/testing/standin/objects.h"

namespace backgauge::cudnn::standin {

Sizes sizes_of(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& x);

// The state of reserve_space after the forward, and after BackwardData.
inline constexpr std::uint64_t kMade = 0x4d616465, kUsed = 0x55736564;

std::size_t reserve_bytes(const cudnnRNNStruct& rnn, const Sizes& sizes);
// What of it is used.
std::size_t used_bytes(const Sizes& sizes);

// A number for what the forward and the backward must agree on.
std::uint64_t identity(const cudnnRNNStruct& rnn, const Sizes& sizes);

// What the memory of the states holds.
struct RandomState {
  std::uint64_t seed = 0, forwards = 0;
};

// A mask depends on the seed, dropout and T, B, H, L, D alone.
void draw_masks(const Sizes& sizes, const RandomState& random, Saved& saved);

// nullptr: zeros, or nothing is stored.
Values load(cudnnDataType_t type, const void* from, std::int64_t count);
void store(cudnnDataType_t type, const Values& values, void* to);

Saved load_saved(const Sizes& sizes, const void* reserve);
void store_saved(const Sizes& sizes, std::uint64_t network, std::uint64_t state, const Saved& saved, void* reserve);
bool is_reserve_of(std::uint64_t network, std::uint64_t state, const void* reserve);

// NaN in every dtype; nothing if there is no memory.
void spoil(void* data, std::size_t bytes);
// After it, reserve_space is that of no forward.
void spoil_reserve(void* reserve);

}  // namespace backgauge::cudnn::standin
