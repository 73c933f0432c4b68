// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/memory/device_mirror.h"

#include <algorithm>

#include "properties/device/runtime.h"

namespace backgauge {

DeviceMirror::DeviceMirror(Arena& arena, const std::vector<bool>& stays) : arena_(arena), copies_(arena.blocks()) {
  for (std::size_t k = 0; k < copies_.size(); ++k) {
    const std::span<std::byte> pages = arena.pages(k);
    if (stays[k] || pages.empty()) continue;
    copies_[k] = std::make_unique<device::Memory>(pages.size(), std::max(arena.unit(k), page_bytes()));
    copies_[k]->write(pages, stream_);
  }
  stream_.synchronize();
}

std::byte* DeviceMirror::data(std::size_t block) const {
  return copies_[block] == nullptr ? arena_.data(block) : copies_[block]->data() + arena_.offset(block);
}

void DeviceMirror::restore(std::size_t block) {
  if (copies_[block] != nullptr) copies_[block]->write(arena_.pages(block), stream_);
}

std::string DeviceMirror::collect(bool whole_device) try {
  whole_device ? device::synchronize() : stream_.synchronize();
  const Arena::Opened opened(arena_);
  for (std::size_t k = 0; k < copies_.size(); ++k) {
    if (copies_[k] != nullptr) copies_[k]->read(arena_.pages(k), stream_);
  }
  stream_.synchronize();
  return "";
} catch (const device::Error& error) {
  return error.what();
}

}  // namespace backgauge
