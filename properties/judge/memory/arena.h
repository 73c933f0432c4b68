// SPDX-License-Identifier: Apache-2.0
// The memory of one call. Each block has pages of its own between guard pages (guard.h). A Placement decides where in
// its pages it lies; the rest of the pages holds canaries. Outputs start as poison, a quiet NaN with a payload of its
// own; inputs are compared with their old content after the call. The canaries of inputs, outputs and workspace are
// different NaNs, so that a value computed from elements past the end of an input changes the canary past the end of an
// output.
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
    kInput,         // holds `bytes` and must not change; its pages are read-only to all but the judge
    kChangedInput,  // holds `bytes` at first; the implementation may change it
    kOutput,        // holds poison or `fill` at first
    kWorkspace      // holds `fill` at first
  };
  std::string name{};
  Role role = Role::kInput;
  std::size_t unit = 1;  // bytes of an element, a power of two; workspace: its alignment
  std::size_t size = 0;  // in bytes
  // Inputs. If there are fewer than `size`, the rest is zero and takes no memory until it is accessed.
  std::vector<std::byte> bytes{};
  bool poisoned = true;   // outputs
  std::byte fill{0xff};   // workspace; outputs that are not poisoned
  bool in_bytes = false;  // violations give positions in bytes, not in elements; the workspace always in bytes
};

// Something that an implementation must not do.
struct Violation {
  // kWroteInput: the input was written, but holds its old content again.
  enum class Kind { kPastEnd, kBeforeBeginning, kWroteInput, kChangedInput, kChangedOutput };
  Kind kind = Kind::kPastEnd;
  Access access = Access::kWrite;
  std::string block;
  std::int64_t element = 0;   // of those affected, the one nearest to the block
  std::int64_t elements = 0;  // of the block
  bool late = false;          // after the call had returned
  bool in_bytes = false;      // element and elements are bytes

  bool operator==(const Violation&) const = default;
  std::string text() const;  // "wrote past the end of dicfo (element 84 of 84)"
};

class Arena {
 public:
  // `margin`: bytes of canary, a multiple of the page size, on either side of each block's own pages. Throws
  // std::bad_alloc if the memory cannot be mapped.
  Arena(std::vector<Block> blocks, const Placement& placement, std::size_t margin = 0);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // For a block of 0 bytes: NULL, or an address that must not be accessed.
  std::byte* data(std::size_t block) const { return places_[block].data; }
  std::span<const std::byte> bytes(std::size_t block) const { return {places_[block].data, blocks_[block].size}; }

  std::size_t blocks() const { return blocks_.size(); }
  std::size_t unit(std::size_t block) const { return blocks_[block].unit; }
  // All memory between the guard pages of a block, at an address where the judge can write it (inputs: while an Opened
  // exists). Empty if the block has 0 bytes.
  std::span<std::byte> pages(std::size_t block) const { return {places_[block].ours, places_[block].pages_size}; }
  // While it exists, the judge can write those inputs that are mapped only once.
  class Opened {
   public:
    explicit Opened(Arena& arena);  // throws std::bad_alloc
    ~Opened() { arena_.protect_inputs(false); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

   private:
    Arena& arena_;
  };
  // Distance in bytes from the beginning of pages(block) to the block.
  std::ptrdiff_t offset(std::size_t block) const { return places_[block].data - places_[block].pages; }

  // Runs `call` and records its accesses to guard pages and its writes to inputs. Accesses by threads that it leaves
  // behind are recorded from then on.
  void guarded(const std::function<void()>& call);

  // Replaces the content of an input by as many bytes. Only before the first call.
  void write(std::size_t block, std::vector<std::byte> bytes);

  // Restores the first content of outputs and of inputs that may change.
  void refill();

  // What all guarded calls did, and what canaries and inputs show now: at most one violation per block, kind and
  // access.
  std::vector<Violation> violations() const;

  // To be called when the call has returned: its violations. From then on nothing may change; late_violations() returns
  // what did.
  std::vector<Violation> freeze();
  std::vector<Violation> late_violations() const;

  // True if an element of an output still holds its first content.
  bool unwritten(std::size_t block, std::size_t element) const;

 private:
  struct Place {
    std::byte* pages = nullptr;  // between the guards
    std::size_t pages_size = 0;
    std::byte* data = nullptr;
    std::byte* ours = nullptr;  // the same pages, at an address where the judge can write them

    std::byte* our_data() const { return ours + (data - pages); }
  };

  bool is_shown(std::size_t block) const;
  bool is_mapped_once(std::size_t block) const;
  bool protect(std::size_t block, bool writable);  // false if the system refuses
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
  std::unique_ptr<ReadOnlyPages> shown_;  // of the inputs; null if the system provides none
  std::optional<GuardWatch> watch_;       // from the first call on
  std::vector<Violation> frozen_violations_;
  std::vector<std::vector<std::byte>> frozen_;  // the outputs at freeze()
};

}  // namespace backgauge
