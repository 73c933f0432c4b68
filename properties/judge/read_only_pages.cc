// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/read_only_pages.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace backgauge {
namespace {

struct File {
  int descriptor;
  std::span<std::byte> view;
};

// What is not in use keeps its pages, so that small calls have no page faults. Larger ones give them back.
struct Pool {
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20, kMostFiles = 64;
  std::mutex mutex;
  std::vector<File> files;
};
Pool& pool() {
  static auto* const instance = new Pool;  // threads that outlive main may still end calls
  return *instance;
}

void close_file(const File& file) {
  munmap(file.view.data(), file.view.size());
  close(file.descriptor);
}

}  // namespace

bool ReadOnlyPages::possible(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

ReadOnlyPages::ReadOnlyPages(std::size_t bytes) {
  const std::size_t room = std::max(bytes, Pool::kMostBytes);
  if (room == Pool::kMostBytes) {
    const std::lock_guard lock(pool().mutex);
    if (!pool().files.empty()) {
      file_ = pool().files.back().descriptor;
      view_ = pool().files.back().view;
      pool().files.pop_back();
      return;
    }
  }
  file_ = memfd_create("backgauge-inputs", MFD_CLOEXEC);
  if (file_ < 0) throw std::bad_alloc();
  void* const mapped = ftruncate(file_, static_cast<off_t>(room)) == 0
                           ? mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                           : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    close(file_);
    throw std::bad_alloc();
  }
  view_ = {static_cast<std::byte*>(mapped), room};
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
