// SPDX-License-Identifier: Apache-2.0
// A file descriptor that is closed by its owner's destructor.
#pragma once

#include <unistd.h>

#include <utility>

namespace backgauge {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int get() const { return number_; }

 private:
  int number_;
};

}  // namespace backgauge
