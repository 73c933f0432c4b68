// SPDX-License-Identifier: Apache-2.0
// Memory that an implementation may only read, and that the judge writes beside it: a file in memory, mapped twice. To
// open pages for the judge and to close them again would cost two system calls for each input of each call, and with
// several threads an interruption of the other processors each.
#pragma once

#include <cstddef>
#include <span>

namespace backgauge {

class ReadOnlyPages {
 public:
  // Whole pages, of any content. Throws std::bad_alloc where there is no such memory.
  explicit ReadOnlyPages(std::size_t bytes);
  ~ReadOnlyPages();
  ReadOnlyPages(const ReadOnlyPages&) = delete;
  ReadOnlyPages& operator=(const ReadOnlyPages&) = delete;

  // Whether there is such memory: not where the size of files is limited to less, for which the system would send
  // SIGXFSZ.
  static bool possible(std::size_t bytes);

  std::byte* writable() const { return view_.data(); }

  // Maps `bytes` of it, from `offset` on, at a place inside a mapping of the caller's, for reading. Throws
  // std::bad_alloc.
  void show(std::size_t offset, std::size_t bytes, std::byte* at) const;

 private:
  int file_ = -1;
  std::span<std::byte> view_;
};

}  // namespace backgauge
