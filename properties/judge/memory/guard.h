// SPDX-License-Identifier: Apache-2.0
// Records accesses to guard pages and resumes the thread: while a GuardWatch exists, a fault of any thread inside its
// mapping is recorded, the page is opened, and the instruction runs again. Other faults go to the handler that was
// installed before (a debugger's, a sanitizer's, or the default, which ends the process).
//
// The handlers of SIGSEGV and SIGBUS are replaced while at least one watch exists. AddressSanitizer permits that by
// default; ASAN_OPTIONS must not say handle_segv=2 or handle_sigbus=2.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "properties/judge/memory/access.h"

namespace backgauge {

std::size_t page_bytes();

struct GuardHit {
  std::uintptr_t address = 0;
  Access access = Access::kTouch;
};

class GuardWatch {
 public:
  // On input a page-aligned mapping, some of whose pages are PROT_NONE or PROT_READ. Throws std::runtime_error if
  // more than 8,192 watches exist or the signal handlers cannot be installed.
  explicit GuardWatch(std::span<std::byte> mapping);
  ~GuardWatch();
  GuardWatch(const GuardWatch&) = delete;
  GuardWatch& operator=(const GuardWatch&) = delete;

  // Installs the handlers again if others have been installed since. Throws std::runtime_error.
  static void arm();

  // The first hits, in order of arrival. A page reports its first read and its first write; two threads may report the
  // same one.
  std::span<const GuardHit> hits() const;

 private:
  friend bool take_fault(std::uintptr_t address, Access access);

  std::uintptr_t begin_, end_;
  std::size_t slot_;
  std::atomic<std::size_t> count_{0};
  std::array<GuardHit, 64> hits_;  // an overrun of more pages than that has been noticed by then
};

}  // namespace backgauge
