// SPDX-License-Identifier: Apache-2.0
// A call with its descriptions and names as one block of bytes, which is put into read-only pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge {

class CallImage {
 public:
  // `begin`: the address that the bytes are made for, aligned for backgauge_call. The data pointers of tensors stay as
  // they are. `inputs` and `outputs`: all descriptions, also if the call gives another number of them. Lists and names
  // that are NULL in the call stay NULL.
  CallImage(const backgauge_call& call, std::span<const backgauge_tensor> inputs,
            std::span<const backgauge_tensor> outputs, const std::byte* begin);

  // The size of such a block.
  static std::size_t bytes_of(std::span<const backgauge_tensor> inputs, std::span<const backgauge_tensor> outputs);

  const std::vector<std::byte>& bytes() const { return bytes_; }

  // The part that a byte belongs to: "the call", "the description of x", "the name of x".
  std::string part_at(std::int64_t byte) const;

 private:
  struct Part {
    std::size_t begin;
    std::string what;
  };
  std::vector<std::byte> bytes_;
  std::vector<Part> parts_;  // in order
};

}  // namespace backgauge
