// SPDX-License-Identifier: Apache-2.0
#include "perf/machine/device_probe.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>

#include "perf/workload/cost_model.h"
#include "properties/device/device.h"
#include "properties/device/products.h"
#include "properties/device/runtime.h"

namespace backgauge {
namespace {

constexpr int kDeviceTrials = 5;
constexpr double kLongestLimit = 0.1;  // seconds, after which no further trial begins: some devices are slow in float64
constexpr std::size_t kProbeAlignment = 256;

class DeviceProbe {
 public:
  explicit DeviceProbe(const device::Facts& facts) : facts_(facts) {}

  DeviceLimits run() {
    DeviceLimits out;
    out.launch_us = 1e6 * known([&] { return launch(); });
    out.copy_memory = known([&] { return copy_beyond_caches(); }) / kGiga;
    out.copy_l2 = known([&] { return copy_in_l2(); }) / kGiga;
    out.products_missing = device::products_absence();
    out.products_version = device::products_version();
    if (!out.products_missing.empty()) return out;
    using enum device::Arithmetic;
    for (const auto& [arithmetic, limit] :
         {std::pair{kHalf, &DeviceLimits::f16}, std::pair{kBfloat16, &DeviceLimits::bf16},
          std::pair{kTf32, &DeviceLimits::tf32}, std::pair{kFloat32, &DeviceLimits::f32},
          std::pair{kFloat64, &DeviceLimits::f64}}) {
      out.*limit = known([&] { return products(arithmetic); }) / kGiga;
    }
    return out;
  }

 private:
  // 0 where the device refuses or has no memory.
  double known(const std::function<double()>& measured) {
    try {
      return measured();
    } catch (const device::Error&) {
      return 0;
    } catch (const std::bad_alloc&) {
      return 0;
    }
  }

  // Seconds of `work`, on the device; the first time, what is loaded at first use is loaded.
  double best(const std::function<void()>& work) {
    work();
    double least = HUGE_VAL;
    double spent = 0;
    for (int trial = 0; trial < kDeviceTrials && spent < kLongestLimit; ++trial) {
      stream_.synchronize();
      stopwatch_.start(stream_);
      work();
      const double seconds = stopwatch_.stop(stream_);
      least = std::min(least, seconds);
      spent += seconds;
    }
    return least;
  }

  double launch() {
    constexpr int kLaunches = 500;  // some milliseconds
    const device::Memory word(sizeof(int), kProbeAlignment);
    return best([&] {
             for (int k = 0; k < kLaunches; ++k) word.fill(std::byte{0}, stream_);
           }) /
           kLaunches;
  }

  // Seconds of a copy of `bytes`, one of several.
  double copy(std::size_t bytes) {
    constexpr int kCopies = 20;
    const device::Memory from(bytes, kProbeAlignment), to(bytes, kProbeAlignment);
    from.fill(std::byte{0}, stream_);
    return best([&] {
             for (int k = 0; k < kCopies; ++k) to.copy(from, stream_);
           }) /
           kCopies;
  }

  // Both halves are larger than any second level, and take a small part of the memory.
  double copy_beyond_caches() {
    constexpr std::int64_t kMost = std::int64_t{1} << 30, kLeast = std::int64_t{1} << 26;
    const std::int64_t part = facts_.memory_bytes > 0 ? facts_.memory_bytes / 16 : kLeast;
    const auto bytes = static_cast<std::size_t>(std::clamp(part, kLeast, kMost));
    return 2 * static_cast<double>(bytes) / copy(bytes);
  }

  // From the difference of two sizes that the second level holds: a copy of some microseconds is not much longer than
  // what starts it.
  double copy_in_l2() {
    const auto half = static_cast<std::size_t>(facts_.l2_bytes / 4), quarter = half / 2;
    if (quarter == 0) return 0;
    const double seconds = copy(half) - copy(quarter);
    return seconds > 0 ? 2 * static_cast<double>(half - quarter) / seconds : 0;
  }

  // 8192 rows fill every device for a millisecond or more, half as many in float64; on small ones, three matrices of
  // doubles take 1/32 of the memory.
  double products(device::Arithmetic arithmetic) {
    constexpr std::int64_t kGrain = 256, kLeast = 512;
    const std::int64_t most = arithmetic == device::Arithmetic::kFloat64 ? 4096 : 8192;
    const double fits = std::sqrt(static_cast<double>(facts_.memory_bytes) / 32 / 3 / sizeof(double));
    const std::int64_t side = std::clamp(static_cast<std::int64_t>(fits) / kGrain * kGrain, kLeast, most);
    const device::SquareProduct product(arithmetic, side, stream_);
    return product.flops() / best([&] { product.run(); });
  }

  const device::Facts& facts_;
  const device::Stream stream_;
  const device::Stopwatch stopwatch_;
};

}  // namespace

double DeviceLimits::products(backgauge_dtype dtype) const {
  switch (dtype) {
    case BACKGAUGE_HALF: return f16;
    case BACKGAUGE_BFLOAT16: return bf16;
    case BACKGAUGE_FLOAT64: return f64;
    default: return f32;
  }
}

double DeviceLimits::copy(double bytes, const device::Facts& facts) const {
  return bytes <= static_cast<double>(facts.l2_bytes) && copy_l2 > 0 ? copy_l2 : copy_memory;
}

DeviceLimits probe_device(const device::Facts& facts) {
  try {
    return DeviceProbe(facts).run();
  } catch (const device::Error& error) {  // not even a stream
    DeviceLimits none;
    none.products_missing = error.what();
    return none;
  }
}

}  // namespace backgauge
