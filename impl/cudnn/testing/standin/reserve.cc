// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/testing/standin/reserve.h"

#include <cstring>

#include "reference/contract/storage.h"

namespace backgauge::cudnn::standin {

namespace {

// At the beginning of reserve_space; then masks, then values.
struct ReserveHead {
  std::uint64_t network = 0;  // of which network's forward
  std::uint64_t state = 0;    // kMade, kUsed
};

std::size_t masks_bytes(const Sizes& sizes) { return (static_cast<std::size_t>(sizes.masks()) + 7) / 8 * 8; }

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {  // splitmix64
  std::uint64_t z = hash + value + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Sizes sizes_of(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& x) {
  const double dropout = rnn.params.layers > 1 ? static_cast<double>(rnn.dropout->dropout) : 0;
  return {mode_of(rnn.mode), x.T, x.B, rnn.params, dropout};
}

std::size_t used_bytes(const Sizes& sizes) {
  return sizeof(ReserveHead) + masks_bytes(sizes) + static_cast<std::size_t>(sizes.saved()) * sizeof(double);
}

std::size_t reserve_bytes(const cudnnRNNStruct& rnn, const Sizes& sizes) {
  const std::size_t more = setting("FAKE_CUDNN_LARGE") == static_cast<int>(rnn.algorithm) ? 1024 : 0;
  // Not a multiple of any element, as nothing promises one.
  return used_bytes(sizes) + more + 1;
}

std::uint64_t identity(const cudnnRNNStruct& rnn, const Sizes& s) {
  std::uint64_t hash = 0;
  for (const std::int64_t value :
       {std::int64_t{rnn.algorithm}, std::int64_t{rnn.type}, std::int64_t{s.mode}, s.T, s.B, s.params.input_size,
        s.params.hidden_size, s.params.layers, s.params.directions, std::int64_t{s.params.skip_input}}) {
    hash = mix(hash, static_cast<std::uint64_t>(value));
  }
  return mix(hash, static_cast<std::uint64_t>(s.dropout * 0x1p32));
}

void draw_masks(const Sizes& s, const RandomState& random, Saved& saved) {
  std::uint64_t key = mix(random.seed, random.forwards);
  for (const std::int64_t value : {s.T, s.B, s.params.hidden_size, s.params.layers, s.params.directions}) {
    key = mix(key, static_cast<std::uint64_t>(value));
  }
  for (std::size_t k = 0; k < saved.keep.size(); ++k) {
    saved.keep[k] = static_cast<double>(mix(key, k) >> 11) * 0x1p-53 >= s.dropout ? 1 : 0;
  }
}

Values load(cudnnDataType_t type, const void* from, std::int64_t count) {
  Values out(static_cast<std::size_t>(count));
  if (from != nullptr) decode(dtype_of(type), from, out);
  return out;
}
void store(cudnnDataType_t type, const Values& values, void* to) {
  if (to != nullptr) encode(dtype_of(type), values, to);
}

Saved load_saved(const Sizes& s, const void* reserve) {
  Saved saved(s);
  const auto* bytes = static_cast<const std::byte*>(reserve) + sizeof(ReserveHead);
  if (!saved.keep.empty()) std::memcpy(saved.keep.data(), bytes, saved.keep.size());
  if (!saved.values.empty()) {
    std::memcpy(saved.values.data(), bytes + masks_bytes(s), saved.values.size() * sizeof(double));
  }
  return saved;
}
void store_saved(const Sizes& s, std::uint64_t network, std::uint64_t state, const Saved& saved, void* reserve) {
  auto* bytes = static_cast<std::byte*>(reserve);
  const ReserveHead head{network, state};
  std::memcpy(bytes, &head, sizeof head);
  bytes += sizeof head;
  if (!saved.keep.empty()) std::memcpy(bytes, saved.keep.data(), saved.keep.size());
  if (!saved.values.empty()) {
    std::memcpy(bytes + masks_bytes(s), saved.values.data(), saved.values.size() * sizeof(double));
  }
}
bool is_reserve_of(std::uint64_t network, std::uint64_t state, const void* reserve) {
  ReserveHead head;
  std::memcpy(&head, reserve, sizeof head);
  return head.network == network && head.state == state;
}

void spoil(void* data, std::size_t bytes) {
  if (data != nullptr) std::memset(data, 0xff, bytes);
}
void spoil_reserve(void* reserve) { spoil(reserve, sizeof(ReserveHead)); }

}  // namespace backgauge::cudnn::standin
