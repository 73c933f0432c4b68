// SPDX-License-Identifier: Apache-2.0
// Memory, streams and clocks of the current CUDA device. Everything throws as runtime.h says, except destructors: a
// lost device has nothing to free.
#pragma once

#include <cstddef>
#include <span>

namespace backgauge::device {

class Stream {
 public:
  Stream();  // does not wait for the default stream, so that work on a wrong stream is not ordered
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void* get() const { return stream_; }  // a cudaStream_t
  void synchronize() const;

 private:
  void* stream_ = nullptr;
};

// Waits for all streams.
void synchronize();

// Lines of the cache that an implementation has marked as to be kept are not evicted by writing other memory: from now
// on they are as any others. Does nothing where CUDA has no such lines.
void forget_kept_cache_lines();

class Memory {
 public:
  Memory(std::size_t bytes, std::size_t alignment);  // alignment: a power of two
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // In order on the stream; `from` and `to` hold size() bytes, and are in use until the stream has been synchronized.
  void write(std::span<const std::byte> from, const Stream& stream) const;
  void read(std::span<std::byte> to, const Stream& stream) const;
  void fill(std::byte value, const Stream& stream) const;
  void copy(const Memory& from, const Stream& stream) const;  // of the same size

 private:
  void transfer(void* to, const void* from, int kind, const Stream& stream) const;

  void* allocation_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_;
};

// Time between two places of a stream, as the device sees it. Its resolution is about half a microsecond.
class Stopwatch {
 public:
  Stopwatch();
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start(const Stream& stream) const;
  double stop(const Stream& stream) const;  // seconds; waits for them to be over

 private:
  void *from_ = nullptr, *to_ = nullptr;
};

}  // namespace backgauge::device
