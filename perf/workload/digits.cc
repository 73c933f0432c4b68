// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/digits.h"

#include <algorithm>
#include <cstring>

#include "reference/contract/storage.h"

namespace backgauge {
namespace {

// Mixes 32 bits so that each depends on all; loops of it use vectors. Constants: Ellis, hash-prospector, "lowbias32".
std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

bool changes(Role role, Fresh fresh) {
  switch (role) {
    case Role::kLength:
    case Role::kSaved:
    case Role::kForward:
    case Role::kReserve: return false;
    default: return is_upstream(role) || fresh == Fresh::kEverything;
  }
}

// kFraction: bits of the fraction. The first of them stays, which also tells a quiet NaN from a signalling one. A
// fraction that is zero stays, and none becomes zero: with f for the drawn bits, 0 -> 0, f -> f, else m -> m ^ f.
template <class Word, int kFraction>
void change(std::byte* at, std::size_t count, std::uint32_t seed) {
  constexpr int kDrawn = kFraction - 1;
  constexpr Word kMask = (Word{1} << kDrawn) - 1, kWhole = (Word{1} << kFraction) - 1;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t hash = mixed(static_cast<std::uint32_t>(k) * 0x9e3779b9U + seed);
    const auto f = static_cast<Word>((kDrawn > 32 ? static_cast<std::uint64_t>(hash) << (kDrawn > 32 ? kDrawn - 32 : 0)
                                                  : static_cast<std::uint64_t>(hash)) &
                                     kMask);
    Word word;
    std::memcpy(&word, at + k * sizeof word, sizeof word);
    const auto m = static_cast<Word>(word & kWhole);
    word = static_cast<Word>(word ^ (m == 0 || m == f ? Word{0} : f));
    std::memcpy(at + k * sizeof word, &word, sizeof word);
  }
}

}  // namespace

Digits::Digits(const Problem& problem, Fresh fresh, std::uint64_t seed) {
  auto base = mixed(static_cast<std::uint32_t>(seed) ^ mixed(static_cast<std::uint32_t>(seed >> 32)));
  for (const TensorSpec& tensor : spec_of(problem.op).inputs) {
    base = mixed(base + 1);  // every tensor has its own, whether or not it changes
    if (changes(tensor.role, fresh)) drawn_.push_back({tensor.name, base});
  }
}

void Digits::apply(std::string_view name, backgauge_dtype dtype, std::span<std::byte> bytes) const {
  const auto drawn = std::ranges::find(drawn_, name, &Drawn::name);
  if (drawn == drawn_.end()) return;
  const std::size_t count = bytes.size() / backgauge_dtype_bytes(dtype);
  switch (dtype) {
    case BACKGAUGE_HALF: return change<std::uint16_t, 10>(bytes.data(), count, drawn->seed);
    case BACKGAUGE_BFLOAT16: return change<std::uint16_t, 7>(bytes.data(), count, drawn->seed);
    case BACKGAUGE_FLOAT32: return change<std::uint32_t, 23>(bytes.data(), count, drawn->seed);
    case BACKGAUGE_FLOAT64: return change<std::uint64_t, 52>(bytes.data(), count, drawn->seed);
    default: return;  // int64 is never changed
  }
}

Problem Digits::in(Problem problem) const {
  for (Tensor& input : problem.inputs) {
    if (std::ranges::find(drawn_, input.name, &Drawn::name) == drawn_.end()) continue;
    std::vector<std::byte> bytes(input.values.size() * backgauge_dtype_bytes(problem.dtype));
    encode(problem.dtype, input.values, bytes.data());
    apply(input.name, problem.dtype, bytes);
    decode(problem.dtype, bytes.data(), input.values);
  }
  return problem;
}

}  // namespace backgauge
