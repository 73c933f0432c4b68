// SPDX-License-Identifier: Apache-2.0
// Memory that an implementation can only read and that the judge writes through a second mapping of the same file in
// memory. Opening the pages for the judge and closing them again would cost two system calls for each input of each
// call, and with several threads an interrupt of the other processors for each of them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace backgauge {

class ReadOnlyPages {
 public:
  // At least `bytes`, with any content. Null if the system provides no such memory: no file in memory, no descriptor,
  // or a limit on the size of files (a larger one would raise SIGXFSZ). Throws std::bad_alloc.
  static std::unique_ptr<ReadOnlyPages> make(std::size_t bytes);
  ~ReadOnlyPages();
  ReadOnlyPages(const ReadOnlyPages&) = delete;
  ReadOnlyPages& operator=(const ReadOnlyPages&) = delete;

  std::byte* writable() const { return view_.data(); }

  // Maps `bytes` of it, from `offset` on, read-only, at an address inside a mapping of the caller. Throws
  // std::bad_alloc.
  void show(std::size_t offset, std::size_t bytes, std::byte* at) const;

 private:
  ReadOnlyPages(int file, std::span<std::byte> view) : file_(file), view_(view) {}

  int file_;
  std::span<std::byte> view_;
};

}  // namespace backgauge
