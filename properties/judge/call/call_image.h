// SPDX-License-Identifier: Apache-2.0
// A call with its descriptions and names as one block of bytes, to lie where nobody may write.
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
  // `begin`: where the bytes are going to lie, aligned for backgauge_call. Tensors keep their data. `inputs` and
  // `outputs`: all that lie there, whatever the call says of their number; a list that is NULL in the call stays NULL,
  // as does a name that is.
  CallImage(const backgauge_call& call, std::span<const backgauge_tensor> inputs,
            std::span<const backgauge_tensor> outputs, const std::byte* begin);

  // How many they are going to be.
  static std::size_t bytes_of(std::span<const backgauge_tensor> inputs, std::span<const backgauge_tensor> outputs);

  const std::vector<std::byte>& bytes() const { return bytes_; }

  // What lies at a byte: "the call", "the description of x", "the name of x".
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
