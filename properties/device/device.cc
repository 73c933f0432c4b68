// SPDX-License-Identifier: Apache-2.0
#include "properties/device/device.h"

#include <cstdint>

#include "properties/device/runtime.h"

namespace backgauge::device {
namespace {

constexpr int kToDevice = 1, kToHost = 2, kWithin = 3;  // cudaMemcpyKind
constexpr unsigned kNonBlocking = 1;                    // cudaStreamNonBlocking

// cudaMalloc's own alignment.
constexpr std::size_t kGiven = 256;

}  // namespace

Stream::Stream() { check(runtime().cudaStreamCreateWithFlags(&stream_, kNonBlocking), "cudaStreamCreateWithFlags"); }

Stream::~Stream() { runtime().cudaStreamDestroy(stream_); }

void Stream::synchronize() const { check(runtime().cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

void forget_kept_cache_lines() {
  using Reset = int (*)();
  static const auto reset = reinterpret_cast<Reset>(function("cudaCtxResetPersistingL2Cache"));
  if (reset != nullptr) check(reset(), "cudaCtxResetPersistingL2Cache");
}

void synchronize() { check(runtime().cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

Memory::Memory(std::size_t bytes, std::size_t alignment) : size_(bytes) {
  const std::size_t slack = alignment > kGiven ? alignment : 0;
  check(runtime().cudaMalloc(&allocation_, bytes + slack), "cudaMalloc");
  const auto address = reinterpret_cast<std::uintptr_t>(allocation_);
  data_ = static_cast<std::byte*>(allocation_) + (slack == 0 ? 0 : (alignment - address % alignment) % alignment);
}

Memory::~Memory() { runtime().cudaFree(allocation_); }

void Memory::transfer(void* to, const void* from, int kind, const Stream& stream) const {
  if (size_ > 0) check(runtime().cudaMemcpyAsync(to, from, size_, kind, stream.get()), "cudaMemcpyAsync");
}

void Memory::write(std::span<const std::byte> from, const Stream& stream) const {
  transfer(data_, from.data(), kToDevice, stream);
}

void Memory::read(std::span<std::byte> to, const Stream& stream) const { transfer(to.data(), data_, kToHost, stream); }

void Memory::copy(const Memory& from, const Stream& stream) const { transfer(data_, from.data_, kWithin, stream); }

void Memory::fill(std::byte value, const Stream& stream) const {
  if (size_ == 0) return;
  check(runtime().cudaMemsetAsync(data_, std::to_integer<int>(value), size_, stream.get()), "cudaMemsetAsync");
}

Stopwatch::Stopwatch() {
  check(runtime().cudaEventCreate(&from_), "cudaEventCreate");
  check(runtime().cudaEventCreate(&to_), "cudaEventCreate");
}

Stopwatch::~Stopwatch() {
  runtime().cudaEventDestroy(from_);
  if (to_ != nullptr) runtime().cudaEventDestroy(to_);
}

void Stopwatch::start(const Stream& stream) const {
  check(runtime().cudaEventRecord(from_, stream.get()), "cudaEventRecord");
}

double Stopwatch::stop(const Stream& stream) const {
  check(runtime().cudaEventRecord(to_, stream.get()), "cudaEventRecord");
  check(runtime().cudaEventSynchronize(to_), "cudaEventSynchronize");
  float milliseconds = 0;
  check(runtime().cudaEventElapsedTime(&milliseconds, from_, to_), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) / 1e3;
}

}  // namespace backgauge::device
