// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/memory/read_only_pages.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

namespace backgauge {
namespace {

struct File {
  int descriptor;
  std::span<std::byte> view;
};

// Memory that is not in use keeps its pages, so that small calls have no page faults. Large blocks release theirs.
struct Pool {
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20, kMostFiles = 64;
  std::mutex mutex;
  std::vector<File> files;
};
Pool& pool() {
  static auto* const instance = new Pool;  // threads that outlive main may still end a call
  return *instance;
}

std::optional<File> take_from_pool() {
  const std::lock_guard lock(pool().mutex);
  if (pool().files.empty()) return std::nullopt;
  const File file = pool().files.back();
  pool().files.pop_back();
  return file;
}

void close_file(const File& file) {
  munmap(file.view.data(), file.view.size());
  close(file.descriptor);
}

bool files_may_be_as_large_as(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

std::optional<File> open_file(std::size_t bytes) {
  if (!files_may_be_as_large_as(bytes)) return std::nullopt;
  const int descriptor = memfd_create("backgauge-inputs", MFD_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  void* const mapped = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0
                           ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
                           : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    close(descriptor);
    return std::nullopt;
  }
  return File{descriptor, {static_cast<std::byte*>(mapped), bytes}};
}

}  // namespace

std::unique_ptr<ReadOnlyPages> ReadOnlyPages::make(std::size_t bytes) {
  std::optional<File> file;
  if (bytes <= Pool::kMostBytes) file = take_from_pool();
  if (!file) file = open_file(std::max(bytes, Pool::kMostBytes));
  if (!file) return nullptr;
  return std::unique_ptr<ReadOnlyPages>(new ReadOnlyPages(file->descriptor, file->view));
}

ReadOnlyPages::~ReadOnlyPages() {
  const File file{file_, view_};
  const std::lock_guard lock(pool().mutex);
  if (view_.size() > Pool::kMostBytes || pool().files.size() == Pool::kMostFiles) {
    close_file(file);
  } else {
    pool().files.push_back(file);
  }
}

void ReadOnlyPages::show(std::size_t offset, std::size_t bytes, std::byte* at) const {
  if (mmap(at, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file_, static_cast<off_t>(offset)) == MAP_FAILED) {
    throw std::bad_alloc();
  }
}

}  // namespace backgauge
