// SPDX-License-Identifier: Apache-2.0
// A call in the memory of a device, as one in host memory: for `cpu`, which makes the training forward of an
// implementation that has none.
#pragma once

#include <cstddef>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge::python {

// kDescribed: shapes alone, as `prepare` sees them. kCopied: with copies of what the device holds.
enum class Contents { kDescribed, kCopied };

class HostCall {
 public:
  // A call in host memory stays as it is. Throws device::Error.
  HostCall(const backgauge_call& call, Contents contents);
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  const backgauge_call& get() const { return call_; }

  // Copies outputs to the device, and waits for that. Throws device::Error.
  void give_outputs() const;

 private:
  void describe(std::vector<backgauge_tensor>& tensors, Contents contents);

  const backgauge_call& given_;
  backgauge_call call_;
  std::vector<backgauge_tensor> inputs_, outputs_;
  std::vector<std::vector<std::max_align_t>> memory_;
};

}  // namespace backgauge::python
