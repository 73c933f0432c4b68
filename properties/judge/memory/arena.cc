// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/memory/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "properties/judge/memory/canary_pattern.h"

namespace backgauge {
namespace {

// Guard pages on either side of a block: a wrong row stride of a few thousand elements still lands in them. They cost
// address space, not memory.
constexpr std::size_t kGuardPages = 16;

constexpr std::size_t kFarthest = 16;  // elements a shifted block may be away from its edge

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

std::byte* round_up(std::byte* address, std::size_t unit) {
  return address + (unit - reinterpret_cast<std::uintptr_t>(address) % unit) % unit;
}

bool odd_multiple(const std::byte* address, std::size_t unit) {
  return reinterpret_cast<std::uintptr_t>(address) / unit % 2 == 1;
}

// A unit larger than a page is an alignment, which a shift would not reduce.
bool may_shift(const Block& block) { return block.unit <= page_bytes() / (2 * kFarthest); }

std::size_t pages_for(const Block& block, const Placement& placement, std::size_t margin) {
  if (block.size == 0) return 0;
  const std::size_t shift = placement.shifted() && may_shift(block) ? kFarthest * block.unit : 0;
  return round_up(block.size + shift + (block.size % block.unit == 0 ? 0 : block.unit), page_bytes()) + 2 * margin;
}

// Payloads, all different: the payload of a NaN shows which memory it came from.
constexpr std::uint8_t kPoison = 0xd1, kOutputCanary = 0xc5, kInputCanary = 0x1a;

Pattern first_content(const Block& output) {
  if (output.poisoned) return nan_pattern(output.unit, kPoison);
  return 0x0101010101010101 * std::to_integer<Pattern>(output.fill);
}

Pattern canary_of(const Block& block) {
  switch (block.role) {
    case Block::Role::kOutput: return nan_pattern(block.unit, kOutputCanary);
    case Block::Role::kInput:
    case Block::Role::kChangedInput: return nan_pattern(block.unit, kInputCanary);
    case Block::Role::kWorkspace: break;
  }
  return 0xfdfdfdfdfdfdfdfd;  // no fill of a workspace (run.cc)
}

std::int64_t element_at(const std::byte* address, const std::byte* data, std::size_t unit) {
  const std::ptrdiff_t distance = address - data;
  const auto size = static_cast<std::ptrdiff_t>(unit);
  return distance >= 0 ? distance / size : -((size - 1 - distance) / size);
}

bool counts_bytes(const Block& block) { return block.in_bytes || block.role == Block::Role::kWorkspace; }

std::size_t counted_unit(const Block& block) { return counts_bytes(block) ? 1 : block.unit; }

Violation violation_at(const std::byte* at, Violation::Kind kind, Access access, const Block& block,
                       const std::byte* data) {
  const std::size_t unit = counted_unit(block);
  const auto elements = static_cast<std::int64_t>(block.size / unit);
  return {kind, access, block.name, element_at(at, data, unit), elements, false, counts_bytes(block)};
}

// Keeps the one nearest to the block.
void add(Violation violation, std::vector<Violation>& found) {
  for (Violation& other : found) {
    if (other.block != violation.block || other.kind != violation.kind || other.access != violation.access) continue;
    if (violation.kind == Violation::Kind::kPastEnd ? violation.element < other.element
                                                    : violation.element > other.element) {
      other = std::move(violation);
    }
    return;
  }
  found.push_back(std::move(violation));
}

}  // namespace

std::string Violation::text() const {
  if (late) {
    Violation then = *this;
    then.late = false;
    return then.text() + " after the call had returned";
  }
  const char* verb = verb_of(access);
  const std::string where = fmt::format("{} ({} {} of {})", block == "workspace" ? "the workspace" : block,
                                        in_bytes ? "byte" : "element", element, elements);
  switch (kind) {
    case Kind::kPastEnd: return fmt::format("{} past the end of {}", verb, where);
    case Kind::kBeforeBeginning: return fmt::format("{} before the beginning of {}", verb, where);
    case Kind::kWroteInput: return fmt::format("wrote to the input {}", where);
    case Kind::kChangedInput: return fmt::format("changed the input {}", where);
    case Kind::kChangedOutput: return fmt::format("changed the output {}", where);
  }
  return where;
}

Arena::Arena(std::vector<Block> blocks, const Placement& placement, std::size_t margin)
    : blocks_(std::move(blocks)), places_(blocks_.size()) {
  const std::size_t guard = kGuardPages * page_bytes();
  std::size_t total = guard;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    places_[k].pages_size = pages_for(blocks_[k], placement, margin);
    const std::size_t room = std::max(blocks_[k].unit, page_bytes());
    if (places_[k].pages_size < blocks_[k].size ||
        __builtin_add_overflow(total, places_[k].pages_size + 2 * guard + room, &total)) {
      throw std::bad_alloc();
    }
  }
  void* mapping = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = {static_cast<std::byte*>(mapping), total};
  std::size_t shown = 0;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    if (is_shown(k)) shown += places_[k].pages_size;
  }
  try {
    if (shown > 0) shown_ = ReadOnlyPages::make(shown);
    lay_out(placement, margin, mapping_.data());
  } catch (...) {
    munmap(mapping, total);
    throw;
  }
}

Arena::~Arena() {
  watch_.reset();
  munmap(mapping_.data(), mapping_.size());
}

// Only private pages have zeros that take no memory.
bool Arena::is_shown(std::size_t k) const {
  const Block& block = blocks_[k];
  return block.role == Block::Role::kInput && block.size > 0 && block.bytes.size() == block.size;
}

bool Arena::is_mapped_once(std::size_t k) const { return places_[k].ours == places_[k].pages; }

bool Arena::protect(std::size_t k, bool writable) {
  return mprotect(places_[k].pages, places_[k].pages_size, writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

bool Arena::protect_inputs(bool writable) {
  bool done = true;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    if (blocks_[k].role == Block::Role::kInput && is_mapped_once(k) && blocks_[k].size > 0) {
      done = protect(k, writable) && done;
    }
  }
  return done;
}

Arena::Opened::Opened(Arena& arena) : arena_(arena) {
  if (!arena_.protect_inputs(true)) throw std::bad_alloc();
}

void Arena::lay_out(const Placement& placement, std::size_t margin, std::byte* cursor) {
  const std::size_t guard = kGuardPages * page_bytes();
  std::size_t shown = 0;  // bytes of inputs so far
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const Block& block = blocks_[k];
    Place& place = places_[k];
    // Alignment is that of the block's own pages.
    place.pages = round_up(cursor + guard + margin, std::max(block.unit, page_bytes())) - margin;
    cursor = place.pages + place.pages_size + guard;
    const bool at_end = placement.edge(k) == Edge::kEnd;
    if (block.size == 0) {
      place.data = at_end ? place.pages : nullptr;
      continue;
    }
    if (shown_ && is_shown(k)) {
      shown_->show(shown, place.pages_size, place.pages);
      place.ours = shown_->writable() + shown;
      shown += place.pages_size;
    } else {
      if (!protect(k, true)) throw std::bad_alloc();
      place.ours = place.pages;
    }
    std::size_t distance = may_shift(block) ? placement.distance(k) : 0;
    const auto data_at = [&](std::size_t elements) {
      if (!at_end) return place.pages + margin + elements * block.unit;
      std::byte* latest = place.pages + place.pages_size - margin - block.size - elements * block.unit;
      return latest - reinterpret_cast<std::uintptr_t>(latest) % block.unit;
    };
    if (distance > 0 && !odd_multiple(data_at(distance), block.unit)) distance += distance == kFarthest - 1 ? -1 : 1;
    place.data = data_at(distance);
    fill(k);
    if (block.role == Block::Role::kInput && is_mapped_once(k) && !protect(k, false)) throw std::bad_alloc();
  }
}

void Arena::fill(std::size_t k) {
  const Block& block = blocks_[k];
  const Place& place = places_[k];
  std::byte *data = place.our_data(), *end = data + block.size;
  lay_pattern(canary_of(block), place.ours, data, data);
  lay_pattern(canary_of(block), end, place.ours + place.pages_size, end);
  fill_data(k);
}

void Arena::fill_data(std::size_t k) {
  const Block& block = blocks_[k];
  std::byte *data = places_[k].our_data(), *end = data + block.size;
  switch (block.role) {
    case Block::Role::kInput:
    case Block::Role::kChangedInput: std::ranges::copy(block.bytes, data); break;
    case Block::Role::kOutput: lay_pattern(first_content(block), data, end, data); break;
    case Block::Role::kWorkspace: std::memset(data, static_cast<int>(block.fill), block.size); break;
  }
}

void Arena::write(std::size_t block, std::vector<std::byte> bytes) {
  blocks_[block].bytes = std::move(bytes);
  const Opened opened(*this);
  fill_data(block);
}

void Arena::refill() {
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const Block::Role role = blocks_[k].role;
    if (blocks_[k].size > 0 && (role == Block::Role::kOutput || role == Block::Role::kChangedInput)) fill_data(k);
  }
}

void Arena::guarded(const std::function<void()>& call) {
  if (!watch_) watch_.emplace(mapping_);
  GuardWatch::arm();
  call();
}

std::vector<Violation> Arena::violations() const {
  std::vector<Violation> found;
  if (watch_) {
    for (const GuardHit& hit : watch_->hits()) add_hit(hit, found);
  }
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    check_canary(k, found);
    if (blocks_[k].role == Block::Role::kInput) check_unchanged(k, blocks_[k].bytes, found);
  }
  // If a write changed a canary, the change is reported and not the access.
  std::vector<std::string> marked;
  for (const Violation& violation : found) {
    if (violation.kind == Violation::Kind::kChangedInput) marked.push_back(violation.block);
  }
  std::erase_if(found, [&](const Violation& violation) {
    return violation.kind == Violation::Kind::kWroteInput && std::ranges::find(marked, violation.block) != marked.end();
  });
  return found;
}

std::vector<Violation> Arena::freeze() {
  frozen_violations_ = violations();
  frozen_.assign(blocks_.size(), {});
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    if (blocks_[k].role == Block::Role::kOutput) frozen_[k].assign(bytes(k).begin(), bytes(k).end());
  }
  return frozen_violations_;
}

std::vector<Violation> Arena::late_violations() const {
  std::vector<Violation> found;
  for (Violation& violation : violations()) {
    if (std::ranges::find(frozen_violations_, violation) == frozen_violations_.end()) {
      found.push_back(std::move(violation));
    }
  }
  for (std::size_t k = 0; k < frozen_.size(); ++k) {
    if (!frozen_[k].empty()) check_unchanged(k, frozen_[k], found);
  }
  for (Violation& violation : found) violation.late = true;
  return found;
}

// The block whose pages, or whose guard pages, were hit.
void Arena::add_hit(const GuardHit& hit, std::vector<Violation>& found) const {
  const auto* address = reinterpret_cast<const std::byte*>(hit.address);
  const std::size_t guard = kGuardPages * page_bytes();
  std::size_t k = 0;
  while (k + 1 < blocks_.size() && address >= places_[k].pages + places_[k].pages_size + guard) ++k;
  const Block& block = blocks_[k];
  const Place& place = places_[k];
  const std::byte* data = place.data == nullptr ? place.pages : place.data;
  const Violation::Kind kind = address < data                 ? Violation::Kind::kBeforeBeginning
                               : address >= data + block.size ? Violation::Kind::kPastEnd
                                                              : Violation::Kind::kWroteInput;
  add(violation_at(address, kind, hit.access, block, data), found);
}

void Arena::check_canary(std::size_t k, std::vector<Violation>& found) const {
  const Block& block = blocks_[k];
  const Place& place = places_[k];
  if (block.size == 0) return;
  const std::byte *data = place.our_data(), *end = data + block.size;
  const auto report = [&](const std::byte* at, Violation::Kind kind) {
    if (at != nullptr) add(violation_at(at, kind, Access::kWrite, block, data), found);
  };
  report(last_difference(canary_of(block), place.ours, data, data), Violation::Kind::kBeforeBeginning);
  report(first_difference(canary_of(block), end, place.ours + place.pages_size, end), Violation::Kind::kPastEnd);
}

void Arena::check_unchanged(std::size_t k, std::span<const std::byte> then, std::vector<Violation>& found) const {
  const Block& block = blocks_[k];
  if (block.size == 0) return;
  const std::byte* data = places_[k].our_data();
  if (then.empty() || std::memcmp(data, then.data(), then.size()) == 0) return;
  const std::byte* now = std::mismatch(data, data + then.size(), then.data()).first;
  const bool is_output = block.role == Block::Role::kOutput;
  const Violation::Kind kind = is_output ? Violation::Kind::kChangedOutput : Violation::Kind::kChangedInput;
  add(violation_at(now, kind, Access::kWrite, block, data), found);
}

bool Arena::unwritten(std::size_t block, std::size_t element) const {
  const std::size_t unit = blocks_[block].unit;
  const Pattern first = first_content(blocks_[block]);
  return std::memcmp(places_[block].data + element * unit, &first, unit) == 0;
}

}  // namespace backgauge
