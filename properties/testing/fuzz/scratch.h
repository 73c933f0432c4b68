// SPDX-License-Identifier: Apache-2.0
// A folder of this process for targets whose readers take paths.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace backgauge::fuzz {

class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / ("backgauge_fuzz_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace backgauge::fuzz
