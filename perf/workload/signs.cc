// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/signs.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "perf/workload/ops/entry.h"

namespace backgauge {
namespace {

template <class Word>
void flip_stored(std::byte* at, const Flips& columns, std::uint8_t row, std::size_t count) {
  constexpr int kSign = 8 * sizeof(Word) - 1;
  for (std::size_t k = 0; k < count; ++k) {
    Word word;
    std::memcpy(&word, at + k * sizeof word, sizeof word);
    word ^= static_cast<Word>(static_cast<Word>(columns[k] ^ row) << kSign);
    std::memcpy(at + k * sizeof word, &word, sizeof word);
  }
}

}  // namespace

Signs::Signs(const Problem& problem, std::uint64_t seed) {
  const OpSpec& op = spec_of(problem.op);
  const SignPatterns signs = workload_ops::entry_of(problem.op).signs(problem, seed);
  const auto upstream = static_cast<std::uint8_t>(seed % 2);
  for (const TensorSpec& tensor : op.inputs) {
    patterns_.push_back({tensor.name, is_upstream(tensor.role) ? upstream : std::uint8_t{0}, signs(tensor)});
  }
  for (const TensorSpec& gradient : op.outputs) patterns_.push_back({gradient.name, upstream, signs(gradient)});
}

// flip(first element, elements, columns, whether the row changes too)
template <class Flip>
void Signs::for_each_row(std::string_view name, std::size_t count, const Flip& flip) const {
  const auto pattern = std::ranges::find(patterns_, name, &Pattern::name);
  if (pattern == patterns_.end()) throw std::logic_error("no signs for a tensor " + std::string(name));
  const auto& [rows, columns] = pattern->signs;
  if (columns.empty()) return;
  for (std::size_t first = 0, row = 0; first < count; first += columns.size(), ++row) {
    const std::uint8_t of_row = rows.empty() ? 0 : rows[row % rows.size()];
    flip(first, std::min(columns.size(), count - first), columns, static_cast<std::uint8_t>(pattern->all ^ of_row));
  }
}

void Signs::apply(std::string_view name, std::span<double> values) const {
  for_each_row(name, values.size(), [&](std::size_t first, std::size_t count, const Flips& columns, std::uint8_t row) {
    flip_stored<std::uint64_t>(reinterpret_cast<std::byte*>(&values[first]), columns, row, count);
  });
}

void Signs::apply(std::string_view name, backgauge_dtype dtype, std::span<std::byte> bytes) const {
  const std::size_t size = backgauge_dtype_bytes(dtype);
  for_each_row(name, bytes.size() / size,
               [&](std::size_t first, std::size_t count, const Flips& columns, std::uint8_t row) {
                 std::byte* at = &bytes[first * size];
                 switch (dtype) {
                   case BACKGAUGE_HALF:
                   case BACKGAUGE_BFLOAT16: return flip_stored<std::uint16_t>(at, columns, row, count);
                   case BACKGAUGE_FLOAT32: return flip_stored<std::uint32_t>(at, columns, row, count);
                   case BACKGAUGE_FLOAT64: return flip_stored<std::uint64_t>(at, columns, row, count);
                   default: return;  // int64 is never flipped
                 }
               });
}

}  // namespace backgauge
