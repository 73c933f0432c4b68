// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>
#include <vector>

#include "impl/cuda/device/cuda/lanes.h"

namespace backgauge::cuda {
namespace {

// How many concurrent works have side queues; further ones run without.
constexpr std::size_t kStock = 4;

struct Shelf {
  std::mutex mutex;
  std::map<int, std::vector<std::unique_ptr<Lanes>>> free;
  std::map<int, std::size_t> made;
};

// Never destroyed, because the driver may already be unloaded at the end of the process.
Shelf& shelf() {
  static Shelf& the = *new Shelf;
  return the;
}

}  // namespace

Lanes::Lanes() {
  check(cudaEventCreateWithFlags(&main_event, cudaEventDisableTiming), "event");
  for (int k = 0; k < Work::kMostSides; ++k) {
    check(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking), "stream");
    check(cudaEventCreateWithFlags(&events[k], cudaEventDisableTiming), "event");
  }
}

Lanes::~Lanes() {
  if (main_event != nullptr) cudaEventDestroy(main_event);
  for (int k = 0; k < Work::kMostSides; ++k) {
    if (streams[k] != nullptr) cudaStreamDestroy(streams[k]);
    if (events[k] != nullptr) cudaEventDestroy(events[k]);
  }
}

void stock_lanes(int device) {
  const std::lock_guard lock(shelf().mutex);
  for (std::size_t& made = shelf().made[device]; made < kStock; ++made) {
    shelf().free[device].push_back(std::make_unique<Lanes>());
  }
}

std::unique_ptr<Lanes> borrow_lanes(int device) {
  const std::lock_guard lock(shelf().mutex);
  auto& free = shelf().free[device];
  if (free.empty()) return nullptr;
  std::unique_ptr<Lanes> lanes = std::move(free.back());
  free.pop_back();
  return lanes;
}

void return_lanes(int device, std::unique_ptr<Lanes> lanes) {
  const std::lock_guard lock(shelf().mutex);
  shelf().free[device].push_back(std::move(lanes));
}

}  // namespace backgauge::cuda
