// SPDX-License-Identifier: Apache-2.0
// The memory of one call. Every block lies alone between guard pages (guard.h), at a place chosen by a Placement; what
// its pages hold beside it is a canary. Outputs start as poison, a quiet NaN whose payload says so; inputs are compared
// afterwards with what they were. Canaries of inputs, outputs and workspace are different NaNs: what is computed from
// elements past the end of an input and stored past the end of an output differs from what stood there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/judge/memory/guard.h"
#include "properties/judge/memory/placement.h"
#include "properties/judge/memory/read_only_pages.h"
#include "reference/contract/backgauge.h"

namespace backgauge {

// One tensor, or the workspace.
struct Block {
  enum class Role {
    kInput,         // begins with `bytes`, and must afterwards; nobody but the judge can write it
    kChangedInput,  // begins with `bytes`
    kOutput,        // holds poison, or `fill`
    kWorkspace      // holds `fill`
  };
  std::string name{};
  Role role = Role::kInput;
  std::size_t unit = 1;  // bytes of an element, a power of two; workspace: its alignment
  std::size_t size = 0;  // in bytes
  // Inputs; if fewer than `size`, the rest is zero and takes no memory until it is touched.
  std::vector<std::byte> bytes{};
  bool poisoned = true;   // outputs
  std::byte fill{0xff};   // workspace; outputs that are not poisoned
  bool in_bytes = false;  // told in bytes, not in elements; the workspace always is
};

// Something that an implementation must not do.
struct Violation {
  // kWroteInput: and then put back what was there, as far as anybody can see afterwards.
  enum class Kind { kPastEnd, kBeforeBeginning, kWroteInput, kChangedInput, kChangedOutput };
  Kind kind = Kind::kPastEnd;
  Access access = Access::kWrite;
  std::string block;
  std::int64_t element = 0;   // the nearest to the block
  std::int64_t elements = 0;  // of the block
  bool late = false;          // after the call had returned
  bool in_bytes = false;      // element and elements are bytes

  bool operator==(const Violation&) const = default;
  std::string text() const;  // "wrote past the end of dicfo (element 84 of 84)"
};

class Arena {
 public:
  // Throws std::bad_alloc where the memory cannot be had. `margin`: whole pages of canary, in bytes, on either side of
  // every block's own pages.
  Arena(std::vector<Block> blocks, const Placement& placement, std::size_t margin = 0);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Of a block without bytes: NULL, or an address that must not be touched.
  std::byte* data(std::size_t block) const { return places_[block].data; }
  std::span<const std::byte> bytes(std::size_t block) const { return {places_[block].data, blocks_[block].size}; }

  std::size_t blocks() const { return blocks_.size(); }
  std::size_t unit(std::size_t block) const { return blocks_[block].unit; }
  // A block with all that surrounds it between its guards, where the judge may write it (inputs: while an Opened
  // lives); empty if it has no bytes.
  std::span<std::byte> pages(std::size_t block) const { return {places_[block].ours, places_[block].pages_size}; }
  // Opens those inputs to the judge that are mapped only once.
  class Opened {
   public:
    explicit Opened(Arena& arena);  // throws std::bad_alloc
    ~Opened() { arena_.protect_inputs(false); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

   private:
    Arena& arena_;
  };
  // How far into them the block begins.
  std::ptrdiff_t offset(std::size_t block) const { return places_[block].data - places_[block].pages; }

  // Runs `call` and records its touches of guard pages, and its writes to inputs; from then on, those of all threads
  // that it has left behind.
  void guarded(const std::function<void()>& call);

  // Makes an input of as many bytes another one, before any call.
  void write(std::size_t block, std::vector<std::byte> bytes);

  // Puts outputs, and inputs that may change, back to what they held at first.
  void refill();

  // Of all guarded calls, and what canaries and inputs show now: at most one per block, kind and access.
  std::vector<Violation> violations() const;

  // The call has returned: what it has violated. From now on nothing may change; late: what has.
  std::vector<Violation> freeze();
  std::vector<Violation> late_violations() const;

  // Whether an element of an output holds what it held at first.
  bool unwritten(std::size_t block, std::size_t element) const;

 private:
  struct Place {
    std::byte* pages = nullptr;  // between the guards
    std::size_t pages_size = 0;
    std::byte* data = nullptr;
    std::byte* ours = nullptr;  // the same pages, where they can be written

    std::byte* our_data() const { return ours + (data - pages); }
  };

  bool is_shown(std::size_t block) const;
  bool is_mapped_once(std::size_t block) const;
  bool protect(std::size_t block, bool writable);  // false where the system refuses
  bool protect_inputs(bool writable);
  void lay_out(const Placement& placement, std::size_t margin, std::byte* cursor);
  void fill(std::size_t block);
  void fill_data(std::size_t block);
  void add_hit(const GuardHit& hit, std::vector<Violation>& found) const;
  void check_canary(std::size_t block, std::vector<Violation>& found) const;
  void check_unchanged(std::size_t block, std::span<const std::byte> then, std::vector<Violation>& found) const;

  std::vector<Block> blocks_;
  std::vector<Place> places_;
  std::span<std::byte> mapping_;
  std::unique_ptr<ReadOnlyPages> shown_;  // of the inputs; null where the system gives none
  std::optional<GuardWatch> watch_;       // from the first call on
  std::vector<Violation> frozen_violations_;
  std::vector<std::vector<std::byte>> frozen_;  // outputs, as they were then
};

}  // namespace backgauge
