// SPDX-License-Identifier: Apache-2.0
// oneDNN itself: its header, the one engine, its version and its threads.
#pragma once

// Its own headers are not clean under the warnings of the project.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <oneapi/dnnl/dnnl.hpp>
#pragma GCC diagnostic pop

#include <memory>
#include <string>

namespace backgauge::onednn {

const dnnl::engine& engine();

// "3.2.0 (OpenMP)": of the library that was loaded, not of the header.
const std::string& library_version();

// What is wrong if the library is not the one of the header, else "". Libraries of one name exist once in a process:
// where two plug-ins are loaded, the second gets the oneDNN of the first.
std::string other_library();

// Lets oneDNN use this number of threads, from this thread, until the scope ends.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  [[maybe_unused]] int before_ = 0;
  std::shared_ptr<void> limit_;
};

}  // namespace backgauge::onednn
