// SPDX-License-Identifier: Apache-2.0
// The memory of an arena once more, in device memory: an implementation gets these addresses, and afterwards what it
// has done there stands in the arena, canaries included. Guard pages have no counterpart: what is written next to a
// block is seen by its canary, what is read there is not.
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
  // On input an arena with a margin, and which of its blocks stay where they are. Throws device::Error, std::bad_alloc.
  DeviceMirror(Arena& arena, const std::vector<bool>& stays);

  // As in the arena: at the same distance from a page.
  std::byte* data(std::size_t block) const;
  const device::Stream& stream() const { return stream_; }

  // A call has returned: waits for its stream, and brings everything back. On output "", or what the device reports,
  // and then nothing has come back.
  std::string collect();

  // Waits for the whole device instead: what was not in order on the stream shows.
  std::string collect_late();

 private:
  std::string bring_back();

  Arena& arena_;
  device::Stream stream_;
  std::vector<std::unique_ptr<device::Memory>> copies_;  // of the pages; nullptr: none
};

}  // namespace backgauge
