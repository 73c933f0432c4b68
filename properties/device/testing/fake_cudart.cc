// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime library without a device: memory is the host's, and work is done when it is put on a stream, or when
// the graph is launched that the stream is captured into. What must be device memory and is not, or the other way
// round, is cudaErrorInvalidValue. Implementations in C++ compute with this memory as with any other.
//   FAKE_CUDA_APART=1     a stand-in that is more like a device: its memory cannot be touched but by work on a stream,
//                         and work is done when somebody waits for it
//   FAKE_CUDA_DEVICES=0   there is no device
//   FAKE_CUDA_DRIVER=0    there is no driver
//   FAKE_CUDA_NAME=<name> the name of the device, "Fake GPU"
//   FAKE_CUDA_FAULT=<n>   the n-th cudaStreamSynchronize, and all after it, report an illegal address
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInsufficientDriver = 35, kNoDevice = 100,
              kIllegalState = 401, kIllegalAddress = 700, kStreamCaptureUnsupported = 900;
constexpr int kDriver = 13'010;
constexpr std::size_t kAlignment = 256;

using Clock = std::chrono::steady_clock;

std::mutex mutex;
std::map<std::uintptr_t, std::size_t>& allocations() {
  static auto* all = new std::map<std::uintptr_t, std::size_t>;  // lives as long as anybody may free
  return *all;
}

// The number in a variable of the environment.
int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

bool is_apart() {
  static const bool apart = setting("FAKE_CUDA_APART", 0) != 0;
  return apart;
}

constexpr std::size_t kPage = 4096;

// Of an allocation of so many bytes, whose end may be pointed to.
std::size_t pages_of(std::size_t bytes) { return (bytes / kPage + 1) * kPage; }

// The memory of a device that is apart. It is one mapping, opened and closed as a whole, and no address is given twice.
class ApartMemory {
 public:
  ApartMemory() {
    void* const mapped = mmap(nullptr, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped != MAP_FAILED) begin_ = static_cast<std::byte*>(mapped);
  }

  void* take(std::size_t bytes) {  // nullptr: no room
    const std::lock_guard lock(mutex_);
    if (begin_ == nullptr || bytes > kRoom - taken_ || pages_of(bytes) > kRoom - taken_) return nullptr;
    std::byte* const data = begin_ + taken_;
    taken_ += pages_of(bytes);
    if (users_ > 0) mprotect(data, pages_of(bytes), PROT_READ | PROT_WRITE);
    return data;
  }

  static void give_back(void* data, std::size_t bytes) { madvise(data, pages_of(bytes), MADV_DONTNEED); }

  // Several threads may work at once.
  void open() {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0) mprotect(begin_, taken_, PROT_READ | PROT_WRITE);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) mprotect(begin_, taken_, PROT_NONE);
  }

 private:
  static constexpr std::size_t kRoom = std::size_t{1} << 40;
  std::mutex mutex_;
  std::byte* begin_ = nullptr;
  std::size_t taken_ = 0;
  int users_ = 0;
};

ApartMemory& apart_memory() {
  static auto* memory = new ApartMemory;
  return *memory;
}

bool in_one_allocation(const void* data, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::lock_guard lock(mutex);
  const auto after = allocations().upper_bound(address);
  if (after == allocations().begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return address - begin <= size && bytes <= size - (address - begin);
}

bool in_no_allocation(const void* data) { return !in_one_allocation(data, 0); }

using Work = std::vector<std::function<void()>>;

struct Stream {
  bool captured = false;
  Work work{};  // while it is captured, or where the device is apart: what nobody has waited for
};

// Streams 1 and 2 are those that CUDA has by default; nothing is ever put on them.
bool is_default(void* stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }

Stream& stream_of(void* stream) { return *static_cast<Stream*>(stream); }

// Shared with those who wait for all of them, while others are destroyed.
std::set<std::shared_ptr<Stream>>& streams() {
  static auto* all = new std::set<std::shared_ptr<Stream>>;
  return *all;
}

// Does it, or keeps it for later.
int put(void* stream, std::function<void()> work) {
  if (stream_of(stream).captured || is_apart()) {
    const std::lock_guard lock(mutex);
    stream_of(stream).work.push_back(std::move(work));
  } else {
    work();
  }
  return kSuccess;
}

// Work may be a function of Python, which waits for a lock of its own: nothing is held meanwhile. It may free memory
// too, which then does not wait.
void finish(Stream& stream) {
  thread_local bool working = false;
  if (working || stream.captured) return;
  Work work;
  {
    const std::lock_guard lock(mutex);
    work.swap(stream.work);
  }
  if (work.empty()) return;
  working = true;
  apart_memory().open();
  for (const std::function<void()>& part : work) part();
  apart_memory().close();
  working = false;
}

void finish_all() {
  if (!is_apart()) return;  // nothing waits
  std::set<std::shared_ptr<Stream>> all;
  {
    const std::lock_guard lock(mutex);
    all = streams();
  }
  for (const std::shared_ptr<Stream>& stream : all) finish(*stream);
}

}  // namespace

#define BACKGAUGE_FAKE extern "C" __attribute__((visibility("default")))

// For implementations that want to know what they have been given.
BACKGAUGE_FAKE bool fake_cuda_is_device(const void* data) { return in_one_allocation(data, 1); }

BACKGAUGE_FAKE int cudaGetDeviceCount(int* count) {
  if (setting("FAKE_CUDA_DRIVER", kDriver) == 0) return kInsufficientDriver;
  *count = setting("FAKE_CUDA_DEVICES", 1);
  return *count == 0 ? kNoDevice : kSuccess;
}

BACKGAUGE_FAKE int cudaGetDeviceProperties(void* properties, int) {
  const char* name = std::getenv("FAKE_CUDA_NAME");
  std::strncpy(static_cast<char*>(properties), name == nullptr ? "Fake GPU" : name, 256);
  return kSuccess;
}

BACKGAUGE_FAKE int cudaDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> known = {{13, 1'500'000}, {16, 4},       {36, 2'000'000},
                                           {37, 512},       {38, 1 << 20}, {75, 9}};
  const auto found = known.find(attribute);
  *value = found == known.end() ? 0 : found->second;
  return kSuccess;
}

BACKGAUGE_FAKE int cudaMemGetInfo(std::size_t* available, std::size_t* all) {
  *available = *all = std::size_t{1} << 30;
  return kSuccess;
}

BACKGAUGE_FAKE int cudaDriverGetVersion(int* version) {
  *version = setting("FAKE_CUDA_DRIVER", kDriver);
  return kSuccess;
}

BACKGAUGE_FAKE int cudaRuntimeGetVersion(int* version) {
  *version = 13'000;
  return kSuccess;
}

BACKGAUGE_FAKE const char* cudaGetErrorString(int error) {
  switch (error) {
    case kSuccess: return "no error";
    case kInvalidValue: return "invalid argument";
    case kOutOfMemory: return "out of memory";
    case kInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case kNoDevice: return "no CUDA-capable device is detected";
    case kIllegalState: return "the operation cannot be performed in the present state";
    case kStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case kIllegalAddress: return "an illegal memory access was encountered";
    default: return "unrecognized error code";
  }
}

BACKGAUGE_FAKE int cudaGetLastError() { return kSuccess; }

BACKGAUGE_FAKE int cudaMalloc(void** data, std::size_t bytes) {
  *data = is_apart() ? apart_memory().take(bytes)
                     : std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
  if (*data == nullptr) return kOutOfMemory;
  const std::lock_guard lock(mutex);
  allocations()[reinterpret_cast<std::uintptr_t>(*data)] = bytes;
  return kSuccess;
}

BACKGAUGE_FAKE int cudaFree(void* data) {
  if (data == nullptr) return kSuccess;
  finish_all();  // cudaFree waits for the device
  const std::lock_guard lock(mutex);
  const auto found = allocations().find(reinterpret_cast<std::uintptr_t>(data));
  if (found == allocations().end()) return kInvalidValue;
  if (is_apart()) {
    ApartMemory::give_back(data, found->second);
  } else {
    std::free(data);
  }
  allocations().erase(found);
  return kSuccess;
}

BACKGAUGE_FAKE int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  const bool to_device = kind == 1 || kind == 3, from_device = kind == 2 || kind == 3;  // cudaMemcpyKind
  if (stream == nullptr || kind < 1 || kind > 3) return kInvalidValue;
  if (to_device ? !in_one_allocation(to, bytes) : !in_no_allocation(to)) return kInvalidValue;
  if (from_device ? !in_one_allocation(from, bytes) : !in_no_allocation(from)) return kInvalidValue;
  return put(stream, [=] { std::memcpy(to, from, bytes); });
}

BACKGAUGE_FAKE int cudaMemsetAsync(void* data, int value, std::size_t bytes, void* stream) {
  if (stream == nullptr || !in_one_allocation(data, bytes)) return kInvalidValue;
  return put(stream, [=] { std::memset(data, value, bytes); });
}

// Whether lines of the cache were marked as to be kept, which evicting does not undo.
std::atomic<bool> keeps_lines{false};
BACKGAUGE_FAKE bool fake_cuda_keeps_lines() { return keeps_lines; }

BACKGAUGE_FAKE int cudaDeviceSetLimit(int, std::size_t bytes) {
  keeps_lines = bytes > 0;
  return kSuccess;
}

BACKGAUGE_FAKE int cudaCtxResetPersistingL2Cache() {
  keeps_lines = false;
  return kSuccess;
}

// How often all streams were waited for.
std::atomic<unsigned long long> device_waits{0};
BACKGAUGE_FAKE unsigned long long fake_cuda_device_waits() { return device_waits; }

BACKGAUGE_FAKE int cudaDeviceSynchronize() {
  ++device_waits;
  finish_all();
  return kSuccess;
}

BACKGAUGE_FAKE int cudaStreamCreateWithFlags(void** stream, unsigned) {
  const auto made = std::make_shared<Stream>();
  const std::lock_guard lock(mutex);
  streams().insert(made);
  *stream = made.get();
  return kSuccess;
}

BACKGAUGE_FAKE int cudaStreamDestroy(void* stream) {
  finish(stream_of(stream));
  const std::lock_guard lock(mutex);
  std::erase_if(streams(), [&](const auto& each) { return each.get() == stream; });
  return kSuccess;
}

// For implementations, whose kernels this is.
BACKGAUGE_FAKE bool fake_cuda_is_captured(void* stream) { return stream_of(stream).captured; }
BACKGAUGE_FAKE void fake_cuda_launch(void* stream, void (*kernel)(void*), void* argument) {
  put(stream, [=] { kernel(argument); });
}
BACKGAUGE_FAKE void fake_cuda_put(void* stream, const std::function<void()>& work) { put(stream, work); }

BACKGAUGE_FAKE int cudaStreamBeginCapture(void* stream, int) {
  if (stream_of(stream).captured) return kIllegalState;
  stream_of(stream).captured = true;
  return kSuccess;
}

BACKGAUGE_FAKE int cudaStreamIsCapturing(void* stream, int* status) {
  *status = stream != nullptr && stream_of(stream).captured ? 1 : 0;
  return kSuccess;
}

BACKGAUGE_FAKE int cudaStreamEndCapture(void* stream, void** graph) {
  if (!stream_of(stream).captured) return kIllegalState;
  *graph = new Work(std::exchange(stream_of(stream), {}).work);
  return kSuccess;
}

BACKGAUGE_FAKE int cudaGraphGetNodes(void* graph, void**, std::size_t* count) {
  *count = static_cast<Work*>(graph)->size();
  return kSuccess;
}

BACKGAUGE_FAKE int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = new Work(*static_cast<Work*>(graph));
  return kSuccess;
}

BACKGAUGE_FAKE int cudaGraphLaunch(void* executable, void* stream) {
  return put(stream, [work = *static_cast<Work*>(executable)] {
    for (const std::function<void()>& part : work) part();
  });
}

BACKGAUGE_FAKE int cudaGraphExecDestroy(void* executable) {
  delete static_cast<Work*>(executable);
  return kSuccess;
}

BACKGAUGE_FAKE int cudaGraphDestroy(void* graph) {
  delete static_cast<Work*>(graph);
  return kSuccess;
}

BACKGAUGE_FAKE int cudaStreamSynchronize(void* stream) {
  if (is_default(stream)) return cudaDeviceSynchronize();
  if (stream_of(stream).captured) return kStreamCaptureUnsupported;
  finish(stream_of(stream));
  static std::atomic<int> calls{0};
  const int fault = setting("FAKE_CUDA_FAULT", 0);
  return fault > 0 && ++calls >= fault ? kIllegalAddress : kSuccess;
}

BACKGAUGE_FAKE int cudaEventCreate(void** event) {
  *event = new Clock::time_point;
  return kSuccess;
}

BACKGAUGE_FAKE int cudaEventDestroy(void* event) {
  delete static_cast<Clock::time_point*>(event);
  return kSuccess;
}

BACKGAUGE_FAKE int cudaEventRecord(void* event, void* stream) {
  return put(stream, [event] { *static_cast<Clock::time_point*>(event) = Clock::now(); });
}

BACKGAUGE_FAKE int cudaEventSynchronize(void*) {
  finish_all();
  return kSuccess;
}

BACKGAUGE_FAKE int cudaEventElapsedTime(float* milliseconds, void* from, void* to) {
  const auto elapsed = *static_cast<Clock::time_point*>(to) - *static_cast<Clock::time_point*>(from);
  *milliseconds = std::chrono::duration<float, std::milli>(elapsed).count();
  return kSuccess;
}
