// SPDX-License-Identifier: Apache-2.0
// Values as bytes for the other side of a channel, which is the same program on the same machine. A Reader trusts
// nothing: if the bytes end early, or a count is larger than what follows, ok() becomes false and further values are
// not changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace backgauge {

// One function lists the fields of a type, for reading and writing:
//   template <class Archive, class V> requires Is<V, Thing>
//   void fields(Archive& archive, V& thing) { archive(thing.a, thing.b); }
template <class V, class Thing>
concept Is = std::is_same_v<std::remove_const_t<V>, Thing>;

class Writer {
 public:
  template <class... V>
  void operator()(const V&... values) {
    (put(values), ...);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void append(const void* data, std::size_t size) {
    if (size == 0) return;
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      append(&value, sizeof value);
    } else {
      fields(*this, value);
    }
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    append(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(std::span<const T>(values));
  }
  template <class T>
  void put(std::span<const T> values) {
    put(static_cast<std::uint64_t>(values.size()));
    if constexpr (std::is_trivially_copyable_v<T>) {
      append(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) put(value);
    }
  }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class... V>
  void operator()(V&... values) {
    (take(values), ...);
  }
  bool ok() const { return ok_; }
  void fail() { ok_ = false; }

 private:
  void copy(void* to, std::size_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_ || size == 0) return;
    std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  template <class T>
  void take(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      copy(&value, sizeof value);
    } else {
      fields(*this, value);
    }
  }
  // A count of elements of at least `least` bytes each, limited by the bytes that are left.
  std::size_t take_count(std::size_t least) {
    std::uint64_t count = 0;
    take(count);
    ok_ = ok_ && count <= rest_.size() / least;
    return ok_ ? count : 0;
  }
  void take(std::string& text) {
    text.resize(take_count(1));
    copy(text.data(), text.size());
  }
  template <class T>
  void take(std::vector<T>& values) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      values.resize(take_count(sizeof(T)));
      copy(values.data(), values.size() * sizeof(T));
    } else {
      constexpr std::size_t kLeast = sizeof(std::uint64_t);  // every type that is not trivial begins with a count
      values.resize(take_count(kLeast));
      for (T& value : values) take(value);
    }
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

// Values one after the other, and one value back; nullopt if it cannot be decoded.
template <class... V>
Writer to_wire(const V&... values) {
  Writer writer;
  writer(values...);
  return writer;
}
template <class T>
std::optional<T> from_wire(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  T value;
  reader(value);
  return reader.ok() ? std::optional<T>(std::move(value)) : std::nullopt;
}

}  // namespace backgauge
