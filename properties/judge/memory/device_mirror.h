// SPDX-License-Identifier: Apache-2.0
// A copy of an arena in device memory. An implementation gets the addresses of the copy; after the call the copy,
// canaries included, is copied back to the arena. Device memory has no guard pages: a write outside a block changes its
// canary, a read there is not noticed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "properties/device/device.h"
#include "properties/judge/memory/arena.h"

namespace backgauge {

class DeviceMirror {
 public:
  // On input an arena with a margin, and for each block whether it stays in host memory. Throws device::Error,
  // std::bad_alloc.
  DeviceMirror(Arena& arena, const std::vector<bool>& stays);

  // The address of a block, at the same distance from a page as in the arena.
  std::byte* data(std::size_t block) const;
  const device::Stream& stream() const { return stream_; }

  // Writes a block of the arena once more, on the stream: for an input that the call before has changed.
  void restore(std::size_t block);

  // Waits for the stream of a call that has returned, or for the whole device, which shows work that was not ordered on
  // the stream; then copies everything back. On output "", or the error that the device reports; then nothing was
  // copied.
  std::string collect(bool whole_device = false);

 private:
  Arena& arena_;
  device::Stream stream_;
  std::vector<std::unique_ptr<device::Memory>> copies_;  // of the pages; nullptr: none
};

}  // namespace backgauge
