// SPDX-License-Identifier: Apache-2.0
// Memory that an implementation may only read, and that the judge writes beside it: a file in memory, mapped twice. To
// open pages for the judge and to close them again would cost two system calls for each input of each call, and with
// several threads an interruption of the other processors each.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace backgauge {

class ReadOnlyPages {
 public:
  // At least `bytes`, of any content; null where the system gives no such memory: no file in memory, no descriptor for
  // one, or a limit on the size of files (for which the system would send SIGXFSZ). Throws std::bad_alloc.
  static std::unique_ptr<ReadOnlyPages> make(std::size_t bytes);
  ~ReadOnlyPages();
  ReadOnlyPages(const ReadOnlyPages&) = delete;
  ReadOnlyPages& operator=(const ReadOnlyPages&) = delete;

  std::byte* writable() const { return view_.data(); }

  // Maps `bytes` of it, from `offset` on, at a place inside a mapping of the caller's, for reading. Throws
  // std::bad_alloc.
  void show(std::size_t offset, std::size_t bytes, std::byte* at) const;

 private:
  ReadOnlyPages(int file, std::span<std::byte> view) : file_(file), view_(view) {}

  int file_;
  std::span<std::byte> view_;
};

}  // namespace backgauge
